"""Every error that a user can cause, with a message that says what was wrong and what to do."""

from __future__ import annotations

LONGEST_MESSAGE = 1000


class TpcError(Exception):
    """The base of all errors that this library raises on purpose; its message is one printable line.

    Messages quote names and values from files that anyone may have written, so whatever could break a line, colour
    a terminal or fill a screen is taken out here, once for all.
    """

    def __init__(self, message: object = "") -> None:
        super().__init__(one_line(str(message)))


def one_line(text: str, longest: int = LONGEST_MESSAGE) -> str:
    """The text without line breaks and control characters, cut in the middle where it is too long."""
    printable = "".join(letter if letter.isprintable() else " " for letter in text[: 16 * longest])
    words = " ".join(printable.split())
    if len(words) <= longest and len(text) <= 16 * longest:
        return words
    half = (longest - 5) // 2
    return f"{words[:half]} ... {words[-half:]}"


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
    return UnknownName(f"unknown {kind} {one_line(str(name), 80)!r}; choose one of: {', '.join(known)}")
