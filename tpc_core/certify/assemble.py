"""From an outcome to a certificate, with the verdict as one plain sentence."""

from __future__ import annotations

from tpc_core.certificate.schema import (
    AttackRecord,
    Certificate,
    Claim,
    CloudRecord,
    ModelRecord,
    PointEvidence,
    Prediction,
    Statistics,
)
from tpc_core.certify.run import Outcome, Run
from tpc_core.statistics import Monitor, StagedMonitor
from tpc_core.version import VERSION
from tpc_core.votes import BaseClassifier


def assemble(
    run: Run, model: BaseClassifier, protocol: str, prediction: Prediction | None, outcome: Outcome
) -> Certificate:
    """The sealed certificate of a finished run."""
    radii = run.radii if outcome.radii is None else outcome.radii
    radius = {p.name: p.to_edge(r) for p, r in zip(run.transform.radii, radii, strict=True)}
    return Certificate(
        library=VERSION,
        verdict=outcome.verdict,
        sentence=sentence(run, prediction, outcome, radii),
        reasons=outcome.reasons,
        claim=Claim(transform=run.transform.name, radius=radius, largest=run.largest),
        prediction=prediction,
        alpha=run.alpha,
        protocol=protocol,
        statistics=describe_monitor(run.monitor),
        evidence=outcome.evidence,
        ledger=outcome.ledger,
        attack=outcome.attack,
        model=ModelRecord(
            name=model.name,
            digest=model.digest,
            classes=list(model.classes),
            task=model.task,
            smoothing=run.voter.smoothing.to_json(),
        ),
        cloud=CloudRecord.of(run.cloud),
        seed=run.voter.seed,
        device=run.voter.device.type,
        samples=run.control.samples,
        seconds=round(run.control.seconds, 6),
    ).sealed()


def describe_monitor(monitor: Monitor) -> Statistics:
    """The stages as JSON holds them."""
    if isinstance(monitor, StagedMonitor):
        return Statistics(kind="staged", sizes=list(monitor.sizes), shares=list(monitor.shares))
    return Statistics(kind="anytime", sizes=list(monitor.sizes), shares=[1.0] * len(monitor.sizes))


def refutation(transform: str, name: str, attack: AttackRecord) -> str:
    """A proven attack as a person would say it."""
    place = ", ".join(f"{key} {value:.3g}" for key, value in attack.edge.items())
    return f"An attack by {transform} ({place}) turns {name} into {attack.winner}."


def sentence(run: Run, prediction: Prediction | None, outcome: Outcome, radii: tuple[float, ...]) -> str:
    """The verdict as a person would say it."""
    confidence = f"{100 * (1 - run.alpha):.6g} % confidence"
    pairs = zip(run.transform.radii, radii, strict=True)
    within = ", ".join(
        (f"{p.name} " if len(radii) > 1 else "") + p.describe(float(f"{p.to_edge(r):.4g}")) for p, r in pairs
    )
    if isinstance(outcome.evidence, PointEvidence):
        passed, count = sum(outcome.evidence.certified), len(outcome.evidence.certified)
        every = "Every point" if passed == count else f"{passed} of {count} points"
        verb = "keeps" if passed == count else "keep"
        return f"{every} {verb} its part under every {run.transform.noun} within {within}, with {confidence} each."
    name = prediction.name if prediction is not None else "its class"
    if outcome.verdict == "certified":
        return f"Every {run.transform.noun} within {within} keeps the class {name}, with {confidence}."
    if outcome.verdict == "refuted" and outcome.attack is not None:
        return refutation(run.transform.name, name, outcome.attack)
    why = outcome.reasons[0].message if outcome.reasons else "no reason was recorded"
    return f"Undecided whether every {run.transform.noun} within {within} keeps the class {name}: {why}."
