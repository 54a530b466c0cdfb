"""The verdict in one plain sentence."""

from __future__ import annotations

from collections.abc import Sequence

from tpc_core.certificate.schema import (
    AttackRecord,
    Evidence,
    PointEvidence,
    Prediction,
    Reason,
    Verdict,
)
from tpc_core.transforms import Transform


def verdict_sentence(
    transform: Transform,
    radii: Sequence[float],
    alpha: float,
    verdict: Verdict,
    prediction: Prediction | None,
    evidence: Evidence,
    reasons: Sequence[Reason],
    attack: AttackRecord | None,
) -> str:
    """What a person would say; it follows from the other fields of a certificate, and `verify` checks that."""
    confidence = f"{100 * (1 - alpha):.6g} % confidence"
    pairs = zip(transform.radii, radii, strict=True)
    within = ", ".join(
        (f"{p.name} " if len(radii) > 1 else "") + p.describe(float(f"{p.to_edge(r):.4g}")) for p, r in pairs
    )
    if isinstance(evidence, PointEvidence):
        passed, count = sum(evidence.certified), len(evidence.certified)
        who = "Every point keeps its" if passed == count else f"{passed} of {count} points keep their"
        return f"{who} part under every {transform.noun} within {within}, with {confidence} each."
    name = prediction.name if prediction is not None else "its class"
    if verdict == "certified":
        return f"Every {transform.noun} within {within} keeps the class {name}, with {confidence}."
    if verdict == "refuted" and attack is not None:
        return refutation(transform.name, name, attack)
    why = reasons[0].message if reasons else "no reason was recorded"
    return f"Undecided whether every {transform.noun} within {within} keeps the class {name}: {why}."


def refutation(transform: str, name: str, attack: AttackRecord) -> str:
    """A proven attack as a person would say it."""
    place = ", ".join(f"{key} {value:.3g}" for key, value in attack.edge.items())
    return f"An attack by {transform} ({place}) turns {name} into {attack.winner}."
