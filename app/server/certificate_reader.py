"""What the upload process does with a certificate: it checks its form, and sends it back in its shortest form.

The process imports this module as its reader (app/session/uploads.py); packages are empty there, so names come from the
modules that define them. What a certificate is, is said in one line:
another schema changes `answer` and nothing else.
"""

from __future__ import annotations

from tpc_core.border import CERTIFICATE, read_json
from tpc_core.certificate.schema import Certificate
from tpc_core.data.sandbox.frames import document_answer


def answer(content: bytes, name: str) -> list[bytes]:
    """The certificate, or an InvalidCertificate; counted at the border before anything is made of it."""
    read_json(content, CERTIFICATE, name)
    return document_answer(Certificate.from_json(content).model_dump_json().encode())


def samples() -> dict[str, bytes]:
    """Nothing is imported late here, so there is nothing to rehearse."""
    return {}
