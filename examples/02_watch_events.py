"""Watch a certificate being made, with a budget, and stop when you have seen enough.

`certify_events` is the run that `certify` hides: a stream of events that ends with `Done`.
"""

from tpc_core import Budget, Options, certify_events, load_model, load_object
from tpc_core.certify import CellDecided, Done

seen = 0


def enough() -> bool:
    """Asked between batches of votes: True ends the run, and the certificate says how far it came."""
    return seen >= 200


options = Options(budget=Budget(samples=100_000, seconds=60), seed=1)
question = (load_model("pointnet64-noise"), load_object("gallery:lamp-1"), "z-taper+z-rotation")

for event in certify_events(*question, "taper=0.2,rotation=10", options, cancelled=enough):
    if isinstance(event, CellDecided):
        seen += 1
        if seen % 10 == 0:
            print(
                f"{seen:4} cells decided, {event.covered:6.1%} of the region, p_A >= {event.lower_bound:.3f}"
            )
    elif isinstance(event, Done):
        print(event.certificate.verdict.upper(), event.certificate.sentence)
        for reason in event.certificate.reasons:
            print(" ", reason.message)
