"""PyTorch, imported when it is first used: `from tpc_core.lazy_torch import torch`.

It takes seconds to load, and much needs none of it: listing transforms or models, or checking a certificate's counts.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch as torch
else:

    class _Torch(ModuleType):
        def __getattr__(self, name: str) -> Any:
            value = getattr(import_module("torch"), name)
            setattr(self, name, value)  # from now on it is found without a detour
            return value

    torch = _Torch("torch")
