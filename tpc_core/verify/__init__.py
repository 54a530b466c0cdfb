"""Check a certificate: from its own evidence, by casting votes or finding margins again, or by casting others."""

from tpc_core.verify.certain import CertainCase
from tpc_core.verify.fresh import Fresh, verify_fresh
from tpc_core.verify.names import borrowed_names
from tpc_core.verify.replay import replay
from tpc_core.verify.verify import Case, Verified, case_of, certain_case_of, verify

__all__ = [
    "Case",
    "CertainCase",
    "Fresh",
    "Verified",
    "borrowed_names",
    "case_of",
    "certain_case_of",
    "replay",
    "verify",
    "verify_fresh",
]
