"""What a certificate calls its model and its object, beside what has these names here. A name is no evidence."""

from __future__ import annotations

from contextlib import suppress

from tpc_core.certificate.schema import Certificate
from tpc_core.data import load_object
from tpc_core.errors import TpcError, one_line
from tpc_core.models.precision import parse_variant
from tpc_core.models.store import digest_of, list_models

SHIPPED = "gallery:"
"""Objects that are the same everywhere. Another name in a stranger's file could be any path of this machine."""


def borrowed_names(certificate: Certificate) -> list[str]:
    """A sentence for each name that belongs to something else here than what the certificate is about."""
    said = []
    with suppress(TpcError):
        variant = parse_variant(certificate.model.name)
        for card in list_models():
            if (
                card.name == variant.checkpoint
                and digest_of(card, variant.precision) != certificate.model.digest
            ):
                said.append(f"the model {one_line(certificate.model.name, 80)} here is another network")
    name, cloud = certificate.question.object, certificate.cloud
    if name.startswith(SHIPPED):
        with suppress(TpcError):
            if load_object(name, points=cloud.count).digest != cloud.digest:
                said.append(f"the object {one_line(name, 80)} here has other points")
    return said
