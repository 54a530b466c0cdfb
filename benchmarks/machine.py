"""What a measurement was made on."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import torch


def describe_machine() -> str:
    """Processor, cores, device and versions, in one line."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if "model name" in line
        ]
        cpu = names[0] if names else cpu
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "no GPU"
    return (
        f"{cpu}, {os.cpu_count()} cores, {device}, {platform.system()}, "
        f"Python {platform.python_version()}, torch {torch.__version__}"
    )
