"""The names of classes and parts, in the order in which the field numbers them."""

from __future__ import annotations

from typing import NamedTuple

MODELNET40_CLASSES: list[str] = [
    "airplane",
    "bathtub",
    "bed",
    "bench",
    "bookshelf",
    "bottle",
    "bowl",
    "car",
    "chair",
    "cone",
    "cup",
    "curtain",
    "desk",
    "door",
    "dresser",
    "flower_pot",
    "glass_box",
    "guitar",
    "keyboard",
    "lamp",
    "laptop",
    "mantel",
    "monitor",
    "night_stand",
    "person",
    "piano",
    "plant",
    "radio",
    "range_hood",
    "sink",
    "sofa",
    "stairs",
    "stool",
    "table",
    "tent",
    "toilet",
    "tv_stand",
    "vase",
    "wardrobe",
    "xbox",
]

MODELNET10_CLASSES: list[str] = [
    "bathtub",
    "bed",
    "chair",
    "desk",
    "dresser",
    "monitor",
    "night_stand",
    "sofa",
    "table",
    "toilet",
]


class Part(NamedTuple):
    """One of the 50 parts of the ShapeNet part benchmark."""

    id: int
    name: str


# The benchmark itself only numbers the parts; the words are ours, read off the labelled clouds.
_PART_NAMES: dict[str, list[str]] = {
    "Airplane": ["body", "wing", "tail", "engine"],
    "Bag": ["handle", "body"],
    "Cap": ["panels", "peak"],
    "Car": ["roof", "hood", "wheel", "body"],
    "Chair": ["back", "seat", "leg", "arm"],
    "Earphone": ["earpiece", "headband", "wire"],
    "Guitar": ["head", "neck", "body"],
    "Knife": ["blade", "handle"],
    "Lamp": ["base", "shade", "canopy", "pole"],
    "Laptop": ["keyboard", "screen"],
    "Motorbike": ["gas tank", "seat", "wheel", "handles", "light", "frame"],
    "Mug": ["handle", "body"],
    "Pistol": ["barrel", "handle", "trigger"],
    "Rocket": ["body", "fin", "nose"],
    "Skateboard": ["wheel", "deck", "truck"],
    "Table": ["top", "leg", "drawer"],
}


def _numbered(names: dict[str, list[str]]) -> dict[str, list[Part]]:
    """Give the parts their official ids 0..49, which simply count through the categories."""
    parts: dict[str, list[Part]] = {}
    first = 0
    for category, words in names.items():
        parts[category] = [Part(first + offset, word) for offset, word in enumerate(words)]
        first += len(words)
    return parts


SHAPENET_PARTS: dict[str, list[Part]] = _numbered(_PART_NAMES)
"""Category -> its parts, e.g. SHAPENET_PARTS['Mug'] == [Part(36, 'handle'), Part(37, 'body')]."""

SHAPENET_CATEGORIES: list[str] = list(SHAPENET_PARTS)

SHAPENET_SYNSETS: dict[str, str] = {
    "02691156": "Airplane",
    "02773838": "Bag",
    "02954340": "Cap",
    "02958343": "Car",
    "03001627": "Chair",
    "03261776": "Earphone",
    "03467517": "Guitar",
    "03624134": "Knife",
    "03636649": "Lamp",
    "03642806": "Laptop",
    "03790512": "Motorbike",
    "03797390": "Mug",
    "03948459": "Pistol",
    "04099429": "Rocket",
    "04225987": "Skateboard",
    "04379243": "Table",
}
"""WordNet synset of the folder -> category."""
