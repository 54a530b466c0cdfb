"""The certificate: its JSON form and its sentence."""

from tpc_core.certificate.certain import CounterexampleRecord
from tpc_core.certificate.schema import Certificate
from tpc_core.certificate.sentence import confidence_words, radius_words

__all__ = ["Certificate", "CounterexampleRecord", "confidence_words", "radius_words"]
