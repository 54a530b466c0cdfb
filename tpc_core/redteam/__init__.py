"""The standing red team: make many certificates, then attack every one of them with a fixed budget."""

from __future__ import annotations

from tpc_core.redteam.journal import RedteamJournal
from tpc_core.redteam.questions import Pair, Plan, pairs_for, plan_questions
from tpc_core.redteam.run import run
from tpc_core.redteam.summary import Summary, summarise, write_summary
from tpc_core.redteam.trial import Trial, put_to_the_test

__all__ = [
    "Pair",
    "Plan",
    "RedteamJournal",
    "Summary",
    "Trial",
    "pairs_for",
    "plan_questions",
    "put_to_the_test",
    "run",
    "summarise",
    "write_summary",
]
