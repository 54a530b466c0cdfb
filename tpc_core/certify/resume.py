"""Continue where an earlier run stopped: its votes are not cast again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpc_core import streams
from tpc_core.certificate.schema import Certificate, GridEvidence, SingleEvidence, TreeEvidence
from tpc_core.certify.assemble import describe_monitor
from tpc_core.certify.paper import grid_resolution
from tpc_core.certify.run import Run
from tpc_core.errors import InvalidValue
from tpc_core.votes import BaseClassifier

if TYPE_CHECKING:
    from tpc_core.certify import Options


def remembered_readings(
    earlier: Certificate, run: Run, model: BaseClassifier, options: Options
) -> dict[str, dict[int, int]]:
    """The readings {cell: {n: n_a}} of an earlier certificate, if it answers the very same question.

    Streams are addressed by cell and number, so going on is the same as having asked for more at once; the
    stages and levels were fixed at the start, so no level is spent twice. The file is verified first: counts
    that do not hang together are not carried into a new certificate.
    """
    from tpc_core.certificate.verify import verify

    verify(earlier)
    questions = {
        "cloud": earlier.cloud.digest == run.cloud.digest,
        "model": earlier.model.digest == model.digest and earlier.model.classes == list(model.classes),
        "transform": earlier.claim.transform == run.transform.name,
        "radius": _same_region(earlier, run),
        "smoothing": earlier.model.smoothing == run.voter.smoothing.to_json(),
        "alpha": earlier.alpha == run.alpha,
        "protocol": earlier.protocol == options.protocol and _same_grid(earlier, run, options),
        "statistics": earlier.statistics == describe_monitor(run.monitor),
        "choice of the class": earlier.prediction is None
        or earlier.prediction.samples == options.select_samples,
        "seed": earlier.seed == run.voter.seed,
        "device": earlier.device == run.voter.device.type,
    }
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


def _same_region(earlier: Certificate, run: Run) -> bool:
    names = [p.name for p in run.transform.radii]
    if earlier.claim.largest != run.largest:
        return False
    if isinstance(earlier.evidence, TreeEvidence):
        return earlier.evidence.root_radius == dict(zip(names, run.radii, strict=True))
    claimed = {p.name: p.to_edge(r) for p, r in zip(run.transform.radii, run.radii, strict=True)}
    return run.largest or claimed == earlier.claim.radius


def _same_grid(earlier: Certificate, run: Run, options: Options) -> bool:
    if not isinstance(earlier.evidence, GridEvidence):
        return True
    return earlier.evidence.resolution == grid_resolution(run, options.resolution)
