"""What every visitor of a load test notes down, whether it has a browser or not."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from benchmarks.marked import Mark
from tpc_core import Certificate

QUESTION = "transform=z-twist&radius=180&model=pointnet64-noise&budget=10000"
"""What everybody asks on the Certify page: the paper's largest twist, with at most 10,000 votes."""


@dataclass
class Visit:
    """One session with an object of its own."""

    mark: Mark
    opened: float = 0.0
    """Seconds until the page could be used."""
    moves: list[dict[str, float]] = field(default_factory=list)
    """Milliseconds of each movement: until the server's reply, until it is shown, until it is painted."""
    rests: list[float] = field(default_factory=list)
    """Milliseconds until the whole page followed a slider that was let go."""
    runs: list[float] = field(default_factory=list)
    """Seconds of each certification, from the click to the verdict."""
    certificates: list[Certificate] = field(default_factory=list)
    received: int = 0
    """Bytes from the server, all of them searched for marks."""
    troubles: list[str] = field(default_factory=list)

    async def open(self, address: str) -> None:
        raise NotImplementedError

    async def drag(self, dice: random.Random, steps: int) -> None:
        raise NotImplementedError

    async def certify(self) -> None:
        raise NotImplementedError

    async def look_around(self) -> None:
        raise NotImplementedError

    def keep(self, certificate: Certificate) -> None:
        """A certificate that came; it must be of this visitor's object."""
        self.certificates.append(certificate)
        if not self.mark.is_cloud(certificate.cloud.cloud()):
            self.troubles.append(f"got the certificate of {certificate.cloud.name}")

    def compare(self, names: set[str], points: set[str]) -> None:
        """Names and clouds that were received are this visitor's, and no others."""
        for kind, found in (("names", names), ("points", points)):
            strangers = found - {self.mark.name}
            if strangers:
                self.troubles.append(f"received {kind} of {', '.join(sorted(strangers))}")
            if self.mark.name not in found:
                self.troubles.append(f"never received its own {kind}: the watch is blind")
