"""Certify a network of your own: anything that maps (B, N, 3) float32 points to (B, classes) logits.

This one has no weights: it says whether a cloud is taller than it is wide. A trained network is brought in the same
way, with its state in a safetensors file: `bring("my_package.nets:make", weights="net.safetensors", ...)`.
"""

from torch import Tensor, nn, stack

from tpc_core import GroupSmoothing, certify, load_object
from tpc_core.models import bring


class Tall(nn.Module):
    """Compares the height of a cloud with its larger horizontal extent."""

    def forward(self, points: Tensor) -> Tensor:
        """(B, N, 3) -> logits (B, 2) of the classes "tall" and "wide"."""
        extent = points.amax(dim=1) - points.amin(dim=1)
        height, width = extent[:, 2], extent[:, :2].amax(dim=1)
        return stack([height - width, width - height], dim=1)


def make() -> nn.Module:
    """What `bring` calls; "__main__:make" because this file is the program that runs."""
    return Tall()


# The smoothing decides what can be certified: uniform turns about z vouch for every turn about z.
model = bring("__main__:make", classes=["tall", "wide"], smoothing=GroupSmoothing("z-rotation"))

for name in ("lamp-1", "bed-1"):
    certificate = certify(model, load_object(f"gallery:{name}"), "z-rotation", 180)
    print(f"{name}: {certificate.verdict.upper()} {certificate.sentence}")
