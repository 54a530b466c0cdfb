"""Take up an earlier certificate: its votes are not cast again, be it for more samples or for a larger radius."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpc_core import streams
from tpc_core.certificate.schema import (
    Certificate,
    GridEvidence,
    GroupEvidence,
    GrownEvidence,
    SingleEvidence,
    TreeEvidence,
)
from tpc_core.certify.assemble import describe_monitor
from tpc_core.certify.core import Core, grows
from tpc_core.certify.paper import grid_resolution
from tpc_core.certify.run import Run
from tpc_core.errors import InvalidValue
from tpc_core.votes import BaseClassifier

if TYPE_CHECKING:
    from tpc_core.certify import Options


def take_up(earlier: Certificate, run: Run, model: BaseClassifier, options: Options) -> None:
    """Give the run what an earlier certificate knows, if both ask the same question, or this one a larger one.

    - The same region: streams are addressed by cell and number, so going on is the same as having asked for more
      at once; the stages and levels were fixed at the start, so no level is spent twice.
    - Another radius where one probability decides: its bound serves every radius.
    - A larger region of a cover: the earlier one, if it is certified, is the core (see `core`).

    The file is verified first: counts that do not hang together are not carried into a new certificate.
    """
    from tpc_core.certificate.verify import verify

    verify(earlier)
    larger = _larger_region(earlier, run)
    questions = {
        "cloud": earlier.cloud.digest == run.cloud.digest,
        "model": earlier.model.digest == model.digest and earlier.model.classes == list(model.classes),
        "transform": earlier.claim.transform == run.transform.name,
        "radius": larger or _same_region(earlier, run),
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
    if larger and earlier.verdict != "certified":
        raise InvalidValue(
            f"cannot enlarge that region: it is {earlier.verdict}; continue it at its own radius first"
        )
    trees = _trees(earlier)
    core = trees if larger else trees[:-1]
    if core:
        radii = tuple(core[-1].root_radius[p.name] for p in run.transform.radii)
        run.core = Core(run.transform.region(radii), core)
    if not larger:
        run.memory = _readings(earlier)
        run.class_memory = _class_votes(earlier, run)


def _trees(earlier: Certificate) -> tuple[TreeEvidence, ...]:
    evidence = earlier.evidence
    if isinstance(evidence, GrownEvidence):
        return tuple(evidence.trees)
    return (evidence,) if isinstance(evidence, TreeEvidence) else ()


def _readings(earlier: Certificate) -> dict[str, dict[int, int]]:
    """The readings {key: {n: n_a}} of the single count, or of the cells of the last tree or of the grid."""
    evidence = earlier.evidence
    if isinstance(evidence, SingleEvidence):
        return {streams.SINGLE: {r.n: r.n_a for r in evidence.readings}}
    if isinstance(evidence, GridEvidence):
        return {c.path: {r.n: r.n_a for r in c.readings} for c in evidence.cells}
    trees = _trees(earlier)
    return {
        streams.shell(len(trees) - 1, c.path): {r.n: r.n_a for r in c.readings}
        for tree in trees[-1:]
        for c in tree.cells
    }


def _class_votes(earlier: Certificate, run: Run) -> dict[int, list[int]]:
    """The votes {n: by class} of a top-class test."""
    evidence = earlier.evidence
    if not isinstance(evidence, GroupEvidence):
        return {}
    return {sum(votes.values()): [votes.get(name, 0) for name in run.classes] for votes in evidence.stages}


def _larger_region(earlier: Certificate, run: Run) -> bool:
    trees = _trees(earlier)
    if not trees or earlier.claim.largest or run.largest or earlier.claim.transform != run.transform.name:
        return False
    radii = tuple(trees[-1].root_radius[p.name] for p in run.transform.radii)
    return grows(run.transform.region(radii), run.transform.region(run.radii))


def _same_region(earlier: Certificate, run: Run) -> bool:
    if earlier.claim.largest != run.largest:
        return False
    if isinstance(earlier.evidence, SingleEvidence | GroupEvidence):
        return True  # one bound, or one test, for every radius
    trees = _trees(earlier)
    if trees:
        return trees[-1].root_radius == dict(
            zip([p.name for p in run.transform.radii], run.radii, strict=True)
        )
    claimed = {p.name: p.to_edge(r) for p, r in zip(run.transform.radii, run.radii, strict=True)}
    return claimed == earlier.claim.radius


def _same_grid(earlier: Certificate, run: Run, options: Options) -> bool:
    if not isinstance(earlier.evidence, GridEvidence):
        return True
    return earlier.evidence.resolution == grid_resolution(run, options.resolution)
