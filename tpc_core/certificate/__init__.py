"""The certificate: its JSON form, and how anyone can check it."""

from tpc_core.certificate.schema import Certificate

__all__ = ["Certificate"]
