"""Continue where an earlier run stopped: its votes are not cast again."""

from __future__ import annotations

from tpc_core import streams
from tpc_core.certificate.schema import Certificate, GridEvidence, SingleEvidence, TreeEvidence
from tpc_core.certify.run import Run
from tpc_core.errors import InvalidValue
from tpc_core.votes import BaseClassifier


def remembered_readings(earlier: Certificate, run: Run, model: BaseClassifier) -> dict[str, dict[int, int]]:
    """The readings {cell: {n: n_a}} of an earlier certificate, if it answers the very same question.

    Streams are addressed by cell and number, so going on is the same as having asked for more at once; the
    stages and levels were fixed at the start, so no level is spent twice.
    """
    claimed = {p.name: p.to_edge(r) for p, r in zip(run.transform.radii, run.radii, strict=True)}
    same_radius = run.largest or claimed == earlier.claim.radius
    questions = {
        "cloud": earlier.cloud.digest == run.cloud.digest,
        "model": earlier.model.digest == model.digest,
        "transform": earlier.claim.transform == run.transform.name,
        "radius": same_radius and earlier.claim.largest == run.largest,
        "smoothing": earlier.model.smoothing == run.voter.smoothing.to_json(),
        "alpha": earlier.alpha == run.alpha,
        "seed": earlier.seed == run.voter.seed,
        "device": earlier.device == run.voter.device.type,
        "stages": earlier.statistics.sizes[: len(run.monitor.sizes)] == list(run.monitor.sizes),
    }
    if isinstance(earlier.evidence, TreeEvidence):
        names = [p.name for p in run.transform.radii]
        questions["region"] = earlier.evidence.root_radius == dict(zip(names, run.radii, strict=True))
    changed = [name for name, same in questions.items() if not same]
    if changed:
        raise InvalidValue(
            f"cannot continue that certificate: its {', '.join(changed)} differ from this request"
        )
    evidence = earlier.evidence
    if isinstance(evidence, SingleEvidence):
        return {streams.SINGLE: {r.n: r.n_a for r in evidence.readings}}
    if isinstance(evidence, TreeEvidence | GridEvidence):
        return {c.path: {r.n: r.n_a for r in c.readings} for c in evidence.cells}
    return {}
