"""Certified accuracy over a data set of your own, with a journal that a crash cannot hurt.

A data set can be one file, `modelnet40_test.npz`: points (M, N, 3), their labels, a name for each, and the class names.
Here the gallery is packed that way; ModelNet40 itself comes with `tpc data fetch modelnet40`. From a shell:
`tpc evaluate --model pointnet64-z-rotation-group --claim z-rotation:180 --out evaluation`.
"""

import os
from pathlib import Path

import numpy as np

from tpc_core import gallery, load_object
from tpc_core.data import MODELNET40_CLASSES
from tpc_core.evaluation import InlineEngine, Request, evaluate

entries = gallery()[::4]
folder = Path("my-data")
folder.mkdir(exist_ok=True)
np.savez(
    folder / "modelnet40_test.npz",
    points=np.stack([load_object(f"gallery:{entry.name}", points=64).points.numpy() for entry in entries]),
    labels=[MODELNET40_CLASSES.index(entry.category) for entry in entries],
    ids=[entry.name for entry in entries],
    classes=list(MODELNET40_CLASSES),
)
os.environ["TPC_DATA"] = str(folder)

request = Request(model="pointnet64-z-rotation-group", claims=["z-rotation:180"], data="modelnet40")
figures = evaluate(request, Path("evaluation"), InlineEngine(), resume=True)
for claim in figures.claims:
    print(
        f"{claim.claim}: {claim.certified_accuracy.value:.0f} % of {figures.done} objects are certified and right"
    )
print("A page of it: tpc report evaluation")
