"""From an outcome to a sealed certificate."""

from __future__ import annotations

from tpc_core.certificate.schema import (
    Certificate,
    Claim,
    CloudRecord,
    ModelRecord,
    Prediction,
    Statistics,
)
from tpc_core.certificate.sentence import verdict_sentence
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
        sentence=verdict_sentence(
            run.transform,
            radii,
            run.alpha,
            outcome.verdict,
            prediction,
            outcome.evidence,
            outcome.reasons,
            outcome.attack,
        ),
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
