"""Certify a network of your own: three lines, and anything that maps points to logits.

(B, N, 3) or (B, 3, N) in, a tensor or a tuple out: what fits is found by trying, and said. To keep a trained network
as one more model of the command line and the explorer: `tpc models add NAME --from my_package.nets:make`
(docs/your-own.md).
"""

import numpy as np
from torch import Tensor, nn, stack

from tpc_core import GroupSmoothing, bring, certify, load_object


class Tall(nn.Module):
    """Compares the height of a cloud with its larger horizontal extent."""

    def forward(self, channels: Tensor) -> tuple[Tensor, str]:
        """(B, 3, N) -> logits (B, 2) of the classes "tall" and "wide", in a tuple as many networks give them."""
        extent = channels.amax(dim=2) - channels.amin(dim=2)
        height, width = extent[:, 2], extent[:, :2].amax(dim=1)
        return stack([height - width, width - height], dim=1), "a second item"


def make() -> nn.Module:
    """What `bring` calls; "__main__:make" because this file is the program that runs."""
    return Tall()


# Three lines: a module, an array, and how far the network is shaken.
points = np.random.default_rng(0).normal(size=(64, 3)) * [0.1, 0.1, 0.3]
certificate = certify(Tall(), points, "z-twist", 20, sigma=20)
print(f"a tower: {certificate.verdict.upper()} {certificate.sentence}")

# With names for the classes, and a smoothing of your choice: uniform turns about z vouch for every turn about z.
model = bring(
    "__main__:make",
    classes=["tall", "wide"],
    smoothing=GroupSmoothing("z-rotation"),
    layout="channels-first",
)
for name in ("lamp-1", "bed-1"):
    certificate = certify(model, load_object(f"gallery:{name}"), "z-rotation", 180)
    print(f"{name}: {certificate.verdict.upper()} {certificate.sentence}")
