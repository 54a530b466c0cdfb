"""The version of the library, recorded in every certificate."""

VERSION = "0.1.0"
