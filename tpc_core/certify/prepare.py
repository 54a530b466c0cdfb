"""From a question to a run: everything is checked here, and no vote is cast yet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tpc_core.certificate.schema import Certificate
from tpc_core.certify.control import Control
from tpc_core.certify.run import Run
from tpc_core.cloud import Cloud
from tpc_core.errors import InvalidValue, UnsupportedRequest
from tpc_core.ledger import Ledger, default_seed, subject_of
from tpc_core.proofs import Claim, proof_of
from tpc_core.question import Options, Question
from tpc_core.smoothing import Smoothing, smoothing_from_json
from tpc_core.transforms import RadiusInput, Transform
from tpc_core.votes import BaseClassifier, Voter, resolve_device


def prepare(
    model: BaseClassifier,
    cloud: Cloud,
    transform: str | Transform,
    radius: RadiusInput | None,
    options: Options,
    *,
    cancelled: Callable[[], bool] = lambda: False,
    resume: Certificate | Ledger | None = None,
    voter: Voter | None = None,
    batch_size: int | None = None,
    spec: str | None = None,
) -> Run:
    """Check the question and set up the run that answers it."""
    question = Question.of(model.name, spec or cloud.name, len(cloud), transform, radius, options)
    if batch_size is not None and batch_size < 1:
        raise InvalidValue(f"batch_size must be at least 1, not {batch_size}")
    smoothing = model.smoothing if options.sigma is None else model.smoothing.with_sigmas(options.sigma)
    # Sigmas as the certificate will hold them: degrees of twelve digits, not what radians make of them.
    smoothing = smoothing_from_json(smoothing.to_json())
    if model.task == "segmentation" and (options.largest or options.protocol == "paper"):
        raise UnsupportedRequest("part segmentation takes a given radius and the adaptive protocol")
    if resume is None:
        ledger = fresh_ledger(model, cloud, question, smoothing)
    else:
        ledger = ledger_of(resume, model, cloud, question, smoothing)
    proof = proof_of(claim_of(question, cloud, smoothing, model.task, ledger))
    if voter is None:
        voter = Voter(model, smoothing, seed=ledger.seed, device=resolve_device(options.device))
    elif (voter.seed, voter.smoothing, voter.model_digest) != (ledger.seed, smoothing, model.digest):
        raise InvalidValue("the voter was made for another seed, another smoothing or another model")
    return Run(question, model, voter, proof, ledger, Control(options.budget, cancelled), batch_size)


def claim_of(question: Question, cloud: Cloud, smoothing: Smoothing, task: str, ledger: Ledger) -> Claim:
    """The claim of a question; a new shape of region is put down in the ledger, and gets its number there."""
    options = question.options
    claim = Claim(
        cloud=cloud,
        transform=question.family,
        smoothing=smoothing,
        radii=question.radii,
        alpha=options.alpha,
        task=task,
        protocol=options.protocol,
        resolution=options.resolution,
    )
    return replace(claim, family=ledger.family(claim.radii)) if claim.has_families else claim


def fresh_ledger(model: BaseClassifier, cloud: Cloud, question: Question, smoothing: Smoothing) -> Ledger:
    """An empty ledger; its seed is nobody's choice unless the options set one."""
    classes = len(model.classes)
    shape = (len(cloud), classes) if model.task == "segmentation" else (classes,)
    own = default_seed(cloud.digest, model.digest, question.transform, smoothing.to_json())
    seed = question.options.seed
    ledger = Ledger(own if seed is None else seed, model.task, shape, own_seed=seed is None)
    ledger.subject = subject_of(
        cloud.digest,
        model.digest,
        model.classes,
        question.transform,
        smoothing.to_json(),
        question.options.protocol,
    )
    return ledger


def ledger_of(
    earlier: Certificate | Ledger,
    model: BaseClassifier,
    cloud: Cloud,
    question: Question,
    smoothing: Smoothing,
) -> Ledger:
    """The ledger of an earlier run, if it is about the same object, model, smoothing, transform and seed.

    Another radius, another level or more votes are fine: they are read off the same votes.
    """
    fresh = fresh_ledger(model, cloud, question, smoothing)
    if isinstance(earlier, Ledger):
        if (earlier.shape, earlier.task) != (fresh.shape, fresh.task):
            raise InvalidValue("that ledger has other classes or another number of points")
        if earlier.subject not in (None, fresh.subject):
            raise InvalidValue(
                "that ledger holds votes about another model, cloud, smoothing, transform or protocol"
            )
        if question.options.seed not in (None, earlier.seed):
            raise InvalidValue(
                f"that ledger has the seed {earlier.seed}, and another one was asked for: {question.options.seed}"
            )
        earlier.subject = fresh.subject
        return earlier
    ledger = earlier.votes()
    differences = {
        "cloud": earlier.cloud.digest == cloud.digest,
        "model": earlier.model.digest == model.digest and earlier.model.classes == list(model.classes),
        "transform": earlier.question.transform == question.transform,
        "smoothing": earlier.model.smoothing == smoothing.to_json(),
        "protocol": earlier.question.options.protocol == question.options.protocol,
        "seed": question.options.seed is None or ledger.seed == question.options.seed,
        "device": earlier.device == resolve_device(question.options.device).type,
    }
    changed = [name for name, same in differences.items() if not same]
    if changed:
        raise InvalidValue(
            f"cannot continue that certificate: its {', '.join(changed)} differ from this request"
        )
    if any(place.startswith("grid|") for place in ledger.tallies) and not _same_grid(
        earlier.question, question
    ):
        raise InvalidValue(
            "cannot continue that certificate: the paper's grid was fixed for its radius, resolution and alpha"
        )
    ledger.check(default_seed(cloud.digest, model.digest, question.transform, smoothing.to_json()))
    return ledger


def _same_grid(earlier: Question, question: Question) -> bool:
    """Whether two questions are answered by one grid; without a given M, alpha decides how fine it is."""
    was, now = earlier.options, question.options
    return (earlier.radius, was.resolution, was.alpha) == (question.radius, now.resolution, now.alpha)
