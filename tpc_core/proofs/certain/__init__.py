"""What is proved of the plain network without votes: by cells of parameters, by one ball, or point by point."""

from __future__ import annotations

from collections.abc import Sequence

from tpc_core.bounds.kinds import kind_of
from tpc_core.certificate.certain import BallRecord, CellsRecord, PartsRecord
from tpc_core.errors import InvalidCertificate
from tpc_core.proofs.certain.ball import BallProof
from tpc_core.proofs.certain.base import CertainProof
from tpc_core.proofs.certain.cells import CellsProof, question_region
from tpc_core.proofs.certain.parts import PartsProof
from tpc_core.question import Question


def certain_proof(
    question: Question,
    record: CellsRecord | BallRecord | PartsRecord,
    prediction: str | None,
    classes: Sequence[str],
) -> CertainProof:
    """The proof that a record holds; an InvalidCertificate where it is none of this question."""
    task = "segmentation" if isinstance(record, PartsRecord) else "classification"
    if record.kind != kind_of(question.family, task):
        raise InvalidCertificate(f"{question.transform} is not proved by {record.kind}")
    if isinstance(record, PartsRecord):
        if prediction is not None:
            raise InvalidCertificate("a proof about parts names no class of the object")
        return PartsProof(question, classes, record)
    if prediction not in classes:
        raise InvalidCertificate(f"the model has no class {prediction}")
    target = list(classes).index(str(prediction))
    if isinstance(record, BallRecord):
        return BallProof(question, classes, target, record)
    return CellsProof(question, classes, target, record)


__all__ = ["BallProof", "CellsProof", "CertainProof", "PartsProof", "certain_proof", "question_region"]
