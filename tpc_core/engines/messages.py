"""What engine and workers say to each other: small plain messages, each under the number of this protocol."""

from __future__ import annotations

from dataclasses import dataclass

from tpc_core.engines.wire import from_bytes, to_bytes
from tpc_core.errors import TpcError

PROTOCOL = 1

# -- to a worker ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Start:
    """Begin a piece of work; it is its turn."""

    run: int
    work: bytes


@dataclass(frozen=True)
class Go:
    """Go on: it is this work's turn again."""

    run: int


@dataclass(frozen=True)
class Pause:
    """Give the turn back at the next batch, and wait for Go."""

    run: int


@dataclass(frozen=True)
class Cancel:
    """End at the next batch."""

    run: int


@dataclass(frozen=True)
class GiveWay:
    """Others wait: whoever works may go on for so many seconds of its turn. None: nobody waits."""

    after: float | None


@dataclass(frozen=True)
class Helpers:
    """So many workers have nothing to do and could cast votes for this one."""

    count: int


@dataclass(frozen=True)
class ModelSent:
    """A model that the worker lacked."""

    key: str
    content: bytes


@dataclass(frozen=True)
class Help:
    """Votes that another worker should cast; to a worker and from one."""

    number: int
    voter: bytes
    blocks: bytes


@dataclass(frozen=True)
class Helped:
    """The votes, or None where nobody could cast them; to a worker and from one."""

    number: int
    counts: bytes | None


# -- from a worker -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Hello:
    """A worker is ready; it is of this version of the library."""

    library: str
    process: int


@dataclass(frozen=True)
class Lacks:
    """A model is not here: send it."""

    key: str


@dataclass(frozen=True)
class Reports:
    """What a piece of work yielded since its last report."""

    run: int
    content: bytes


@dataclass(frozen=True)
class Kept:
    """What a piece of work can go on from."""

    run: int
    state: bytes


@dataclass(frozen=True)
class Parked:
    """A piece of work gave its turn back."""

    run: int


@dataclass(frozen=True)
class Ended:
    """A piece of work is over; the error that ended it, if one did."""

    run: int
    error: TpcError | None = None


Message = (
    Start
    | Go
    | Pause
    | Cancel
    | GiveWay
    | Helpers
    | ModelSent
    | Help
    | Helped
    | Hello
    | Lacks
    | Reports
    | Kept
    | Parked
    | Ended
)


class OtherVersion(TpcError):
    """Engine and worker are of different versions of this library."""


def encode(message: Message) -> bytes:
    """A message as bytes; both ends are processes of ours."""
    return to_bytes((PROTOCOL, message))


def decode(data: bytes) -> Message:
    """The message of some bytes, or OtherVersion."""
    protocol, message = from_bytes(data)
    if protocol != PROTOCOL:
        raise OtherVersion(
            f"a worker speaks protocol {protocol} and this process {PROTOCOL}: install one version"
        )
    return message  # type: ignore[no-any-return]
