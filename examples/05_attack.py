"""Attack instead of certify: look for a transform that changes the answer, and prove that it does.

Against the base network one evaluation is a proof; against the smoothed one, fresh votes are cast. What was certified
cannot be broken (up to the stated error): tilt the table by 2 degrees and it is proved that no attack exists, by 60
and one is found.
"""

from tpc_core import certify, load_model, load_object
from tpc_core.attacks import attack

model = load_model("pointnet64-noise")
table = load_object("gallery:table-1")

print(certify(model, table, "x-rotation", 2).sentence)
for radius in (2, 60):
    for victim in ("base", "smoothed"):
        report = attack(model, table, "x-rotation", radius, against=victim, methods=["random"], tries=40)
        print(f"radius {radius}:", report.sentence)
