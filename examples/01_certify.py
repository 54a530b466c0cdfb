"""Certify one object, keep the certificate, and check it as a stranger would.

The question: can any taper of up to 0.2 along z change what the smoothed model says of this chair?
`tpc certify gallery:chair-1 --transform z-taper --radius 0.2 --out chair.json` asks the same from a shell.
"""

from pathlib import Path

from tpc_core import Certificate, certify, load_model, load_object, verify

model = load_model("pointnet64-noise")  # `tpc models list` lists the others
chair = load_object("gallery:chair-1")  # or the path of a mesh or a cloud of your own

certificate = certify(model, chair, "z-taper", 0.2)
print(certificate.verdict.upper(), certificate.sentence)
print(f"{certificate.samples:,} votes in {certificate.seconds:.1f} s")

file = Path("chair.json")
certificate.save(file)

# Verifying trusts none of the results in the file: it derives the verdict again from the recorded counts.
verified = verify(Certificate.load(file))
print(f"{file} is valid: {verified.verdict}")
