"""The ledger: all votes of one object, each cast once, from which every verdict is read."""

from tpc_core.ledger.ledger import (
    Ledger,
    Refutation,
    default_seed,
    family_level,
    refutation_level,
    subject_of,
)
from tpc_core.ledger.places import (
    SELECT,
    WHOLE,
    cell_place,
    grid_place,
    look_stream,
    refutation_place,
    rival_place,
    stream_of,
)
from tpc_core.ledger.selection import SELECTION, choose, ends_at, next_size
from tpc_core.ledger.tally import Tally

__all__ = [
    "SELECT",
    "SELECTION",
    "WHOLE",
    "Ledger",
    "Refutation",
    "Tally",
    "cell_place",
    "choose",
    "default_seed",
    "ends_at",
    "family_level",
    "grid_place",
    "look_stream",
    "next_size",
    "refutation_level",
    "refutation_place",
    "rival_place",
    "stream_of",
    "subject_of",
]
