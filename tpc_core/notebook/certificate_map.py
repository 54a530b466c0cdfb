"""The map of a certificate that verifies: its cells, which of them pass, and what the votes in each say."""

from __future__ import annotations

from dataclasses import dataclass

from tpc_core.case_view import CaseView
from tpc_core.certificate import Certificate
from tpc_core.errors import InvalidCertificate, UnsupportedRequest
from tpc_core.pictures import map_svg, verdict_box
from tpc_core.verify import verify


@dataclass(frozen=True)
class CertificateMap:
    """The cells of a certificate by cover; the last value of a notebook's cell shows them."""

    certificate: Certificate

    def _repr_html_(self) -> str:
        certificate = self.certificate
        try:
            verify(certificate)
        except InvalidCertificate as error:
            return verdict_box("not valid", str(error))
        head = verdict_box(certificate.verdict, certificate.sentence)
        if certificate.certain is not None:
            return f"{head}<p>A certain proof casts no votes, and has no map of them.</p>"
        view = CaseView.of(certificate)
        boxes = []
        parameters = view.transform.parameters
        for place in view.leaves:
            if place.cell is None:
                continue
            ends = [
                tuple(p.to_edge(value) for p, value in zip(parameters, end, strict=True))
                for end in (place.cell.low, place.cell.high)
            ]
            words = f"{place.n_a} of {place.n} votes, p_A above {place.lower_bound:.3f}, needed {place.needed:.3f}"
            boxes.append((ends[0], ends[1], place.state, words if place.n else "no vote was cast here"))
        if not boxes:
            return f"{head}<p>One probability vouches for the whole region: there are no cells.</p>"
        if len(parameters) > 2:
            raise UnsupportedRequest(
                f"a map of {len(parameters)} parameters has no picture; the explorer shows slices"
            )
        units = ["°" if p.unit == "deg" else "" for p in parameters]
        axes = [f"{p.name} {unit}".strip() for p, unit in zip(parameters, units, strict=True)]
        return head + map_svg(boxes, axes)
