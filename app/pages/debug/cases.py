"""Cases: the certificates that a visitor can look into, from runs, from files, and from going on with either."""

from __future__ import annotations

from dataclasses import dataclass, field

from app.server import cache
from app.server.jobs import Request
from app.server.visitors import board
from tpc_core import Certificate, Model, gallery
from tpc_core.errors import TpcError

_KEPT = 20


@dataclass(frozen=True)
class Case:
    """One certificate, with the model that can vote again, where it is here."""

    id: str
    title: str
    certificate: Certificate = field(repr=False)
    model: Model | None = field(repr=False)
    request: Request | None = field(default=None, repr=False)
    """The question as it was asked, where it was asked here."""
    cast: int = 0
    """Votes that this run cast itself, in the seconds of its certificate; 0 where nobody knows."""

    @property
    def label(self) -> str:
        """One line for the list."""
        return f"{self.title}: {self.certificate.verdict}"


def cases(visitor: str) -> dict[str, Case]:
    """Everything this visitor can look into, newest first; certificates that are not certified come first."""
    found: dict[str, Case] = {}
    for case in reversed(board().drawer(visitor).values()):
        found[case.id] = case
    for job in board().of(visitor):
        view = job.view()
        if view.certificate is not None and not view.live:
            title = f"{view.id}. {view.request.title}, {view.request.model.name}"
            case_id = f"run:{view.id}"
            cast = max(view.samples - view.earlier, 0)
            found[case_id] = Case(case_id, title, view.certificate, view.request.model, view.request, cast)
    return dict(sorted(found.items(), key=lambda item: item[1].certificate.verdict == "certified"))


def keep(
    visitor: str,
    title: str,
    certificate: Certificate,
    model: Model | None,
    request: Request | None = None,
) -> Case:
    """Put a certificate into the visitor's drawer."""
    drawer = board().drawer(visitor)
    case = Case(f"file:{certificate.checksum[:16]}", title, certificate, model, request)
    drawer.pop(case.id, None)
    drawer[case.id] = case
    for old in list(drawer)[: max(0, len(drawer) - _KEPT)]:
        del drawer[old]
    return case


def model_of(certificate: Certificate) -> Model | None:
    """The model that a certificate names, if it is here and the very same one.

    Only names of models that are listed here are looked up: a file from elsewhere must not name a path of this machine.
    """
    wanted = certificate.model
    if not cache.knows(wanted.name):
        return None
    try:
        found = cache.model(wanted.name)
    except TpcError:
        return None
    return found if found.digest == wanted.digest and list(found.classes) == wanted.classes else None


def title_of(certificate: Certificate) -> str:
    """The object by its title where the gallery knows it, and the transform."""
    titles = {entry.name: entry.title for entry in gallery()}
    return f"{titles.get(certificate.cloud.name, certificate.cloud.name)}, {certificate.question.transform}"
