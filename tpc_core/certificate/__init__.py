"""The certificate: its JSON form and its sentence."""

from tpc_core.certificate.schema import Certificate

__all__ = ["Certificate"]
