"""A network of the kind that 3DCertify releases, trained here, since the released file cannot be fetched here.

    python -m tests.models.release_of_3dcertify --to 64p_natural.pth
    tpc models add certify-64p --from 64p_natural.pth --points 64

Names, shapes and layers are those of that project's pointnet/model.py, and so is the way of training: random turns
about z, points shaken by 0.02, Adam. The learning rate falls to zero, so that a few epochs do.
"""

from __future__ import annotations

import argparse
import math
import time
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from tpc_core.data.dataset import open_dataset


def shared(inputs: int, outputs: int) -> list[nn.Module]:
    """One layer for every point alike."""
    return [nn.Conv1d(inputs, outputs, 1), nn.BatchNorm1d(outputs), nn.ReLU()]


class ReleasedPointNet(nn.Module):
    """Clouds (B, N, 3) of one fixed size; blocks called mlp1, mlp2, mlp3, and a pooling without weights."""

    def __init__(self, points: int, classes: int, wide: int = 1024) -> None:
        super().__init__()
        self.mlp1 = nn.Sequential(*shared(3, 64), *shared(64, 64))
        self.mlp2 = nn.Sequential(*shared(64, 64), *shared(64, 128), *shared(128, wide))
        self.pooling = nn.Sequential(nn.MaxPool1d(points))
        self.mlp3 = nn.Sequential(
            nn.Linear(wide, 512), nn.BatchNorm1d(512), nn.ReLU(),
            nn.Linear(512, 256), nn.Dropout(0.3), nn.BatchNorm1d(256), nn.ReLU(), nn.Linear(256, classes),
        )  # fmt: skip

    def forward(self, points: Tensor) -> Tensor:
        features = self.pooling(self.mlp2(self.mlp1(points.transpose(1, 2))))
        logits: Tensor = self.mlp3(features.flatten(1))
        return logits


def trained(
    network: ReleasedPointNet, clouds: Tensor, labels: Tensor, epochs: int, batch: int = 64, say: bool = False
) -> ReleasedPointNet:
    """The network after a few epochs on clouds (M, N, 3), in eval mode."""
    generator = torch.Generator().manual_seed(0)
    steps = epochs * (len(clouds) // batch)
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    rate = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    network.train()
    for epoch in range(epochs):
        began, order = time.monotonic(), torch.randperm(len(clouds), generator=generator)
        for chosen in order.split(batch):
            if len(chosen) < batch:
                continue
            angle = 2 * math.pi * torch.rand(batch, generator=generator)
            x, y, z = clouds[chosen].unbind(2)
            cosine, sine = angle.cos()[:, None], angle.sin()[:, None]
            turned = torch.stack([cosine * x - sine * y, sine * x + cosine * y, z], dim=2)
            shaken = turned + 0.02 * torch.randn(turned.shape, generator=generator)
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(network(shaken), labels[chosen])
            loss.backward()
            optimizer.step()
            rate.step()
        if say:
            print(f"epoch {epoch + 1}: loss {loss.item():.3f}, {time.monotonic() - began:.1f} s", flush=True)
    return network.eval()


@torch.no_grad()
def accuracy(network: nn.Module, clouds: Tensor, labels: Tensor) -> float:
    """Percent of the clouds that the network itself names rightly."""
    answers = torch.cat([network(piece).argmax(dim=1) for piece in clouds.split(256)])
    return 100 * float((answers == labels).float().mean())


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--to", type=Path, default=Path("64p_natural.pth"))
    asked.add_argument("--epochs", type=int, default=30)
    asked.add_argument("--points", type=int, default=64)
    given = asked.parse_args()
    torch.manual_seed(0)
    sets = {}
    for split in ("train", "test"):
        data = open_dataset("modelnet40", split)
        sets[split] = (
            torch.from_numpy(data.points_array(given.points)),
            torch.from_numpy(np.int64(data.labels)),
        )
    network = ReleasedPointNet(given.points, classes=40)
    trained(network, *sets["train"], given.epochs, say=True)
    torch.save(network.state_dict(), given.to)
    clouds, labels = sets["test"]
    print(f"the network itself: {accuracy(network, clouds, labels):.1f} % of {len(labels)} test objects")


if __name__ == "__main__":
    main()
