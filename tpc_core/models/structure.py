"""Is a network put together exactly as our classes put it together?

Folding BatchNorm, and bounding a network layer by layer, read the weights and never run the network itself. That is
right only where what it runs is what is written here: a class of its own, another layer in the place of ours, a hook,
or a function put over one of ours would be passed over in silence.
"""

from __future__ import annotations

from torch import Tensor, nn

from tpc_core.models.layers import Head, RowLayer
from tpc_core.models.pointnet import PointNet, TNet
from tpc_core.models.pooled import PooledLayer
from tpc_core.models.segmentation import PointNetSegmentation

_TRUNK: dict[str, type[nn.Module]] = {
    "input_tnet": TNet,
    "feature_tnet": TNet,
    "points": nn.ModuleList,
    "pool": PooledLayer,
}
_PARTS: dict[type[nn.Module], dict[str, type[nn.Module]]] = {
    PointNet: {**_TRUNK, "head": Head},
    PointNetSegmentation: {**_TRUNK, "parts": nn.ModuleList, "output": nn.Linear},
    TNet: {"points": nn.ModuleList, "pool": PooledLayer, "head": Head},
    Head: {"hidden": nn.ModuleList, "dropout": nn.Dropout, "output": nn.Linear},
    RowLayer: {"linear": nn.Linear, "norm": nn.BatchNorm1d},
    PooledLayer: {"linear": nn.Linear, "norm": nn.BatchNorm1d},
    nn.Linear: {},
    nn.BatchNorm1d: {},
    nn.Dropout: {},
}
"""What each class is made of, by the names of its layers. Lists hold RowLayers and nothing else."""
_TENSORS = (nn.Parameter, Tensor)


def is_as_written(module: nn.Module) -> bool:
    """Whether a PointNet, or its segmentation twin, is one of ours from the outside to the last layer."""
    return isinstance(module, PointNet | PointNetSegmentation) and all(map(_is_ours, module.modules()))


def _is_ours(module: nn.Module) -> bool:
    if module._forward_hooks or module._forward_pre_hooks or _has_own_code(module):
        return False
    children = dict(module.named_children())
    if type(module) is nn.ModuleList:
        return all(type(layer) is RowLayer for layer in children.values())
    if type(module) is nn.BatchNorm1d and (module.running_mean is None or module.weight is None):
        return False
    wanted = _PARTS.get(type(module))
    return wanted is not None and all(type(layer) is wanted.get(name) for name, layer in children.items())


def _has_own_code(module: nn.Module) -> bool:
    """Whether something other than the code of its class answers when it is called, or when its weights are read."""
    overrides = any(callable(getattr(type(module), name, None)) for name in vars(module))
    tensors = [*module._parameters.values(), *module._buffers.values()]
    strange = any(type(tensor) not in _TENSORS for tensor in tensors if tensor is not None)
    return overrides or strange or module._compiled_call_impl is not None
