"""Recipes, schedule, average and loss keep their promises."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from tpc_core.errors import InvalidFile, InvalidValue
from tpc_core.models import build
from tpc_core.models.store import load_model
from tpc_core.smoothing import smoothing_from_json
from tpc_core.training.augment import augmented, mixed
from tpc_core.training.clouds import Clouds, farthest_points, held_aside, split_clouds, unit_ball
from tpc_core.training.config import Augment, Consistency, TrainConfig, load_config, parse_config
from tpc_core.training.groups import groups_aside, similar_groups
from tpc_core.training.loop import Run, train
from tpc_core.training.losses import smoothed_loss, taught
from tpc_core.training.measure import needed_share, vote_shares
from tpc_core.training.regions import Attacks, attacked, hardest, robust_rows
from tpc_core.training.schedule import WeightAverage, learning_rate

from .conftest import Shapes

CONFIGS = sorted((Path(__file__).resolve().parents[2] / "configs").glob("*.toml"))


@pytest.mark.parametrize("path", CONFIGS, ids=lambda p: p.stem)
def test_every_shipped_recipe_can_be_trained(path: Path) -> None:
    config = load_config(path)
    assert config.name == path.stem
    smoothing_from_json(config.smoothing)
    build(config.architecture, classes=3, **config.options)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("name = ", "not a TOML file"),
        ('name = "a"\nepochs = 3', "smoothing"),
        ('name = "a"\nepochs = 0\nsmoothing = {kind = "group", group = "so3"}', "epochs"),
        ('name = "a"\nepochs = 1\nepoch = 1\nsmoothing = {kind = "group", group = "so3"}', "epoch"),
        ('name = "../x"\nepochs = 1\nsmoothing = {kind = "group", group = "so3"}', "name"),
        ('name = "a"\nepochs = 1\nsmoothing = {sigma = 1}', "kind"),
        (
            'name = "a"\nepochs = 1\nbalance = 0.5\ndataset = "shapenetpart"\n'
            'smoothing = {kind = "group", group = "so3"}',
            "one class per cloud",
        ),
        (
            'name = "a"\nepochs = 1\nattempts = 3\nsmoothing = {kind = "group", group = "so3"}',
            "they need regions",
        ),
    ],
)
def test_a_bad_recipe_is_explained_in_one_line(text: str, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(InvalidFile, match=complaint) as caught:
        load_config(path)
    assert "\n" not in str(caught.value)


def test_the_rate_warms_up_then_falls_to_a_hundredth() -> None:
    rates = [learning_rate(step, 10, 20, 3, 1.0) for step in range(200)]
    assert rates[0] == pytest.approx(1 / 30)
    assert max(rates) == pytest.approx(1.0)
    assert rates.index(max(rates)) in (29, 30)
    assert all(a >= b for a, b in pairwise(rates[30:]))
    assert learning_rate(200, 10, 20, 3, 1.0) == pytest.approx(0.01)


def test_the_weight_average_follows_the_formula() -> None:
    module = torch.nn.Linear(2, 1)
    average = WeightAverage(module, 0.9)
    expected = module.weight.detach().clone()
    for step in range(1, 200):
        with torch.no_grad():
            module.weight.add_(1.0)
        share = 1 - min(0.9, (1 + step) / (10 + step))
        expected += share * (module.weight.detach() - expected)
        average.update(module, step)
    torch.testing.assert_close(average.values["weight"], expected)


def test_consistency_is_zero_for_equal_answers_and_positive_otherwise() -> None:
    targets = torch.tensor([0, 1])
    consistency = Consistency(noises=2, weight=3.0)
    same = torch.tensor([[2.0, 0.0], [0.0, 1.0]]).repeat(2, 1)
    torch.testing.assert_close(
        smoothed_loss(same, targets, consistency, 0.0), F.cross_entropy(same[:2], targets)
    )
    differing = same.clone()
    differing[2] = torch.tensor([-1.0, 1.0])
    plain = F.cross_entropy(differing, targets.repeat(2))
    p, q = differing[0].softmax(0), differing[2].softmax(0)
    mean = (p + q) / 2
    divergence = 0.5 * ((mean * (mean / p).log()).sum() + (mean * (mean / q).log()).sum()) / 2
    torch.testing.assert_close(smoothed_loss(differing, targets, consistency, 0.0), plain + 3.0 * divergence)


def test_teachers_have_their_share_of_the_target() -> None:
    answers = torch.tensor([[0.9, 0.1], [0.3, 0.7], [0.8, 0.2], [0.5, 0.5]])
    targets = taught(torch.tensor([0, 1]), answers, 0.25)
    torch.testing.assert_close(targets[0], torch.tensor([0.975, 0.025]))
    torch.testing.assert_close(targets[3], torch.tensor([0.125, 0.875]))
    logits = torch.randn(4, 2)
    expected = -(targets * logits.log_softmax(dim=1)).sum(dim=1).mean()
    torch.testing.assert_close(smoothed_loss(logits, targets, Consistency(noises=2), 0.0), expected)


def test_farthest_points_spread_and_start_where_told() -> None:
    line = torch.zeros(1, 11, 3)
    line[0, :, 0] = torch.arange(11)
    assert farthest_points(line, torch.tensor([0]), 3).tolist() == [[0, 10, 5]]


def test_held_aside_objects_are_never_trained_on(shapes: Shapes) -> None:
    config = parse_config({"name": "a", "epochs": 1, "points": 32, "views": 2,
                           "smoothing": {"kind": "group", "group": "so3"}}, "test")  # fmt: skip
    seen, aside = split_clouds(shapes, config)
    assert held_aside(shapes.labels, 10, "spread").nonzero()[0].tolist() == [0, 10, 20, 30, 40, 50]
    assert (len(seen), len(aside)) == (54, 6)
    assert seen.points.shape == (54, 2, 32, 3)
    np.testing.assert_array_equal(aside.points[:, 0].numpy(), shapes.points_array(32)[::10])
    torch.testing.assert_close(seen.points.norm(dim=-1).amax(dim=-1), torch.ones(54, 2))
    torch.testing.assert_close(unit_ball(seen.points), seen.points, atol=1e-5, rtol=0)


def test_the_last_objects_of_every_class_can_be_kept_aside() -> None:
    labels = np.array([0] * 25 + [1] * 9 + [2] * 10)
    kept = held_aside(labels, 10, "last")
    assert kept.nonzero()[0].tolist() == [23, 24, 43]
    assert not held_aside(labels, 0, "last").any()


def test_rare_classes_come_more_often_when_balanced() -> None:
    labels = torch.tensor([0] * 900 + [1] * 100)
    clouds = Clouds(torch.zeros(1000, 1, 4, 3), labels)
    for balance, share in ((0.0, 0.1), (0.5, 0.25), (1.0, 0.5)):
        config = TrainConfig(name="a", epochs=1, balance=balance, smoothing={"kind": "group", "group": "so3"})
        order = Run(config, 2).order(clouds)
        assert len(order) == 1000
        assert float((labels[order] == 1).float().mean()) == pytest.approx(share, abs=0.06)


def test_a_mixed_cloud_has_the_classes_of_its_points() -> None:
    heights = torch.arange(6).to(torch.float32)
    points = torch.randn(6, 20, 3)
    points[..., 2] = heights[:, None]  # z tells which cloud a point came from
    clouds, shares = mixed(points, heights.long(), 6, 1.0, torch.Generator().manual_seed(0))
    assert clouds.shape == points.shape
    for cloud, share in zip(clouds, shares, strict=True):
        counted = torch.bincount(cloud[:, 2].long(), minlength=6) / 20
        torch.testing.assert_close(share, counted)
    untouched, targets = mixed(points, heights.long(), 6, 0.0, torch.Generator())
    assert torch.equal(untouched, points)
    assert torch.equal(targets, torch.eye(6))


def test_dropping_makes_copies_and_deforming_keeps_neighbours_together() -> None:
    points = torch.rand(8, 50, 3)
    dropped = augmented(points, Augment(drop=0.9), torch.Generator().manual_seed(2))
    assert all(bool((points[i] == p).all(dim=1).any()) for i in range(8) for p in dropped[i])
    assert all(len(cloud.unique(dim=0)) < 50 for cloud in dropped)
    close = torch.cat([points, points + 1e-4], dim=1)
    deformed = augmented(close, Augment(deform=0.5), torch.Generator().manual_seed(2))
    assert float((deformed - close).abs().max()) > 0.05
    assert float((deformed[:, :50] - deformed[:, 50:]).norm(dim=2).max()) < 1e-3


def test_no_augmentation_changes_nothing_and_every_one_changes_something() -> None:
    points = torch.randn(4, 10, 3)
    assert torch.equal(augmented(points, Augment(), torch.Generator()), points)
    for option in ("scale", "jitter", "taper", "shift", "deform", "drop"):
        assert not torch.equal(augmented(points, Augment(**{option: 0.2}), torch.Generator()), points)
    for option in ("rotation", "yaw", "twist"):
        turned = augmented(points, Augment(**{option: 40.0}), torch.Generator().manual_seed(1))
        assert not torch.allclose(turned, points)
        torch.testing.assert_close(turned.norm(dim=2), points.norm(dim=2))


def test_needed_share_is_where_clopper_pearson_passes() -> None:
    from scipy.stats import beta

    share = needed_share(0.9)
    count = round(share * 1000)
    assert beta.ppf(0.001, count, 1000 - count + 1) > 0.9 >= beta.ppf(0.001, count - 1, 1000 - count + 2)
    assert needed_share(0.9999) > 1


def test_training_learns_and_exports_what_it_measured(tmp_path: Path, shapes: Shapes) -> None:
    config = TrainConfig(name="learns", points=32, epochs=20, batch=9, views=2, votes=10, ema=0.9,
                         smoothing={"kind": "coordinate", "sigma": 0.05})  # fmt: skip
    result = train(config, runs=tmp_path / "runs", checkpoints=tmp_path, progress=False, split=shapes)
    assert result.held_aside is not None
    assert result.held_aside["smoothed"] > 80
    model = load_model(str(result.weights))
    assert model.classes == shapes.classes
    assert model.smoothing == smoothing_from_json(config.smoothing)
    assert TrainConfig.model_validate(model.card.recipe) == config
    _, aside = split_clouds(shapes, config)
    right, others = vote_shares(model.classifier(), aside, model.smoothing, 10, config.seed)
    assert 100 * float((right > others).float().mean()) == pytest.approx(
        result.held_aside["smoothed"], abs=0.01
    )
    assert math.isclose(float(right.mean()) * 100, result.held_aside["votes right"], abs_tol=0.01)


def test_segmentation_learns_parts(tmp_path: Path, shapes: Shapes) -> None:
    config = TrainConfig(name="parts", dataset="shapenetpart",
                         architecture="pointnet-segmentation", options={"wide": 64},
                         points=32, epochs=6, batch=18, views=2, votes=3, ema=0.9,
                         smoothing={"kind": "parameter", "transform": "z-rotation",
                                    "sigma": [30.0]})  # fmt: skip
    result = train(config, runs=tmp_path / "runs", checkpoints=tmp_path, progress=False, split=shapes)
    assert result.held_aside is not None
    assert result.held_aside["smoothed"] > 80
    assert load_model(str(result.weights)).task == "segmentation"


def test_near_copies_are_kept_aside_together_or_not_at_all() -> None:
    generator = torch.Generator().manual_seed(0)
    shapes = torch.rand(30, 200, 3, generator=generator) * torch.rand(30, 1, 3, generator=generator)
    shapes = unit_ball(
        shapes + 0.6 * torch.randn(30, 8, 1, 3, generator=generator).repeat(1, 1, 25, 1).flatten(1, 2)
    )
    turned = torch.stack([-shapes[..., 1], shapes[..., 0], shapes[..., 2]], dim=2)
    mirrored = shapes * torch.tensor([1.0, -1.0, 1.0])
    group = similar_groups(torch.cat([shapes, 0.999 * turned, mirrored]))
    assert group.tolist() == [*range(30)] * 3
    labels = np.repeat([0, 1], 15).tolist() * 3
    kept = groups_aside(group, np.array(labels), 5)
    assert np.array_equal(kept[:30], kept[30:60])
    assert np.array_equal(kept[:30], kept[60:])
    assert [int(kept[np.array(labels) == label].sum()) for label in (0, 1)] == [9, 9]


def test_every_copy_is_under_an_attack_of_its_own_inside_the_box_of_the_region() -> None:
    points = torch.randn(200, 20, 3)
    attacks = [Attacks.parse("z-taper:0.5"), Attacks.parse("z-shear:0.2")]
    moved = attacked(points, attacks, torch.Generator().manual_seed(0))
    ratio = moved[..., 0] / points[..., 0]
    tapers = ((ratio - 1) / points[..., 2]).mean(dim=1)
    tapered = ((moved[..., 0] * points[..., 1] - moved[..., 1] * points[..., 0]).abs() < 1e-4).all(dim=1)
    assert 60 < int(tapered.sum()) < 140
    assert float(tapers[tapered].abs().max()) <= 0.5 + 1e-3
    assert len(tapers[tapered].unique()) == int(tapered.sum())
    slid = ((moved - points)[~tapered][..., :2] / points[~tapered][..., 2:]).abs()
    assert 0.15 < float(slid.max()) <= 0.2 + 1e-3
    assert torch.equal(attacked(points, [], torch.Generator()), points)
    with pytest.raises(InvalidValue, match="not a claim"):
        Attacks.parse("z-taper")


def test_of_several_attempts_the_one_answered_worst_is_learnt() -> None:
    """Turned within 60 degrees, the lead of a network that reads x is the cosine: the widest of the turns is kept."""
    points = torch.tensor([1.0, 0.0, 0.0]).expand(300, 1, 3).contiguous()
    targets = torch.zeros(300, dtype=torch.int64)

    def classify(batch: torch.Tensor) -> torch.Tensor:
        return torch.stack([batch[:, 0, 0], -batch[:, 0, 0], torch.full((len(batch),), -9.0)], dim=1)

    def turns(attempts: int) -> torch.Tensor:
        generator = torch.Generator().manual_seed(0)
        moved = hardest(points, targets, [Attacks.parse("z-rotation:60")], attempts, classify, generator)
        return torch.rad2deg(torch.atan2(moved[:, 0, 1], moved[:, 0, 0])).abs()

    assert float(turns(1).mean()) == pytest.approx(30, abs=3)
    # The largest of four uniform turns is four fifths of the range on average.
    assert float(turns(4).mean()) == pytest.approx(48, abs=2)
    assert float(turns(4).max()) <= 60 + 1e-3


def test_attempts_are_tried_on_the_network_as_it_is_and_leave_its_statistics_alone() -> None:
    smoothing = {"kind": "coordinate", "sigma": 0.01}
    recipe = {"name": "a", "points": 16, "epochs": 1, "smoothing": smoothing, "regions": ["z-rotation:60"]}
    run = Run(parse_config(recipe | {"attempts": 4}, "a"), 3)
    before = {name: value.clone() for name, value in run.module.state_dict().items()}
    clouds = torch.randn(6, 16, 3)
    moved = run._attacked(clouds, torch.tensor([0, 1, 2, 0, 1, 2]))
    assert run.module.training
    assert not torch.equal(moved, clouds)
    assert torch.allclose(moved.norm(dim=2), clouds.norm(dim=2), atol=1e-5)
    assert all(torch.equal(value, before[name]) for name, value in run.module.state_dict().items())


def test_robust_means_right_under_every_attack_tried() -> None:
    """A classifier that asks whether x of the first point is positive survives turns of up to its angle to y."""
    angles = torch.deg2rad(torch.tensor([10.0, 60.0, 88.0, 120.0]))
    points = torch.stack([angles.cos(), angles.sin(), torch.zeros(4)], dim=1).view(4, 1, 1, 3)
    clouds = Clouds(points, torch.zeros(4, dtype=torch.int64))

    def classify(batch: torch.Tensor) -> torch.Tensor:
        return torch.stack([batch[:, 0, 0], -batch[:, 0, 0]], dim=1)

    figures = robust_rows(classify, clouds, ["z-rotation:60"], 0)
    assert figures["plain"] == 75
    assert figures["plain, z-rotation 20"] == 50
    assert figures["plain, z-rotation 60"] == 25
    assert figures["plain, z-rotation 180"] == 0
