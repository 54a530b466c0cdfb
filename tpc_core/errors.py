"""Every error that a user can cause, with a message that says what was wrong and what to do."""

from __future__ import annotations


class TpcError(Exception):
    """The base of all errors that this library raises on purpose."""


class InvalidCloud(TpcError, ValueError):
    """The points are not a usable cloud: wrong shape, not finite, empty, or outside the unit ball."""


class InvalidValue(TpcError, ValueError):
    """A number lies outside the range in which it has a meaning."""


class UnknownName(TpcError, KeyError):
    """A name was asked for that nothing here carries."""

    def __str__(self) -> str:  # KeyError would print the repr of the message
        return str(self.args[0]) if self.args else ""


class UnsupportedRequest(TpcError):
    """The pieces are fine one by one, but there is no theorem that joins them."""


class InvalidFile(TpcError, ValueError):
    """A file could not be read as what it claims to be."""


class CannotWrite(InvalidFile, OSError):
    """A file could not be written: the disk is full, read-only, or not there."""


class InvalidCertificate(TpcError, ValueError):
    """A certificate does not follow from its own counts, or was changed after it was made."""


class MissingDependency(TpcError, ImportError):
    """An optional package is needed for this call and is not installed."""


def unknown_name(kind: str, name: object, known: list[str]) -> UnknownName:
    """An UnknownName error that lists what could have been meant."""
    return UnknownName(f"unknown {kind} {str(name)!r}; choose one of: {', '.join(known)}")
