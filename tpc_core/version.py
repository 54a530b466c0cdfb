"""The version of the library, recorded in every certificate."""

VERSION = "1.0.0"
