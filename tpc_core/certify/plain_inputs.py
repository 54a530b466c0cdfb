"""A plain torch module, function or array in place of a Model or a Cloud: three lines of Python are enough."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from tpc_core.cloud import UNIT_BALL_TOLERANCE, Cloud, normalise
from tpc_core.errors import InvalidCloud, InvalidValue
from tpc_core.lazy_torch import torch
from tpc_core.question import Options
from tpc_core.smoothing import smoothing_for
from tpc_core.transforms import Transform, parse_transform
from tpc_core.votes import BaseClassifier

if TYPE_CHECKING:
    from torch import Tensor

    from tpc_core.models.brought.recognise import Network

log = logging.getLogger(__name__)

Sigma = float | tuple[float, ...]


def as_cloud(points: Cloud | Tensor | ArrayLike) -> Cloud:
    """The cloud itself, or one of an array (N, 3); what is outside the unit ball is centred and scaled, and said."""
    if isinstance(points, Cloud):
        return points
    given: Any = points.detach().cpu().numpy() if hasattr(points, "detach") else points
    array = np.asarray(given, dtype=np.float64)
    if array.ndim == 2 and array.shape[0] == 3 and array.shape[1] != 3:
        array = array.T
        log.warning("the points are taken as (3, N): %d points", len(array))
    if array.ndim != 2 or array.shape[1] != 3:
        raise InvalidCloud(f"a cloud has shape (N, 3), not {array.shape}")
    if np.isfinite(array).all() and len(array):
        radius = float(np.linalg.norm(array, axis=1).max())
        if radius > 1 + UNIT_BALL_TOLERANCE:
            log.warning(
                "the points reach to radius %.4g; they are centred and scaled into the unit ball", radius
            )
            return Cloud(normalise(torch.from_numpy(np.ascontiguousarray(array))))
    return Cloud(array)


def as_model(
    model: BaseClassifier | Network,
    cloud: Cloud,
    transform: str | Transform,
    options: Options,
    sigma: Sigma | None,
) -> tuple[BaseClassifier, Options]:
    """The model itself with this sigma, or a Model of a plain network under the smoothing that suits the transform."""
    if hasattr(model, "classifier") and hasattr(model, "digest"):
        known: Any = model
        if sigma is None:
            return known, options
        sigmas = sigma if isinstance(sigma, tuple) else (float(sigma),)
        return known, replace(options, sigma=sigmas)
    from tpc_core.models.brought import model_of

    if not callable(model):
        raise InvalidValue(
            f"a {type(model).__name__} is no model; give a Model, a torch module or a function"
        )
    wanted = sigma if sigma is not None else options.sigma
    if wanted is None and options.proof != "certain":
        raise InvalidValue(
            "a plain network has no smoothing of its own: give the noise, as in "
            "certify(network, points, 'z-twist', 20, sigma=20)"
        )
    family = parse_transform(transform) if isinstance(transform, str) else transform
    plain: Any = model
    made = model_of(plain, smoothing_for(family, wanted or 0.05), num_points=len(cloud))
    assert made.card.brought is not None
    for note in made.card.brought.notes:
        log.warning("%s: %s", made.name, note)
    return made, replace(options, sigma=None)
