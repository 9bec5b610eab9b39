"""What is said of several arguments of one call."""

from __future__ import annotations

import warnings

import pytest
import torch
from expectations import lint


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            "torch.autograd.profiler.profile(use_mtia=a, use_cuda=b)",
            [
                "`torch.autograd.profiler.profile` takes no `use_mtia` since torch 2.5",
                '`use_cuda` of `torch.autograd.profiler.profile` is deprecated: use `use_device="cuda"`',
            ],
        ),
        (
            "torch.onnx.export(a, b, c, dynamo=False, example_outputs=1, fallback=1)",
            [
                "`torch.onnx.export` takes no `example_outputs` since torch 1.11",
                "`torch.onnx.export` takes no `fallback` since torch 2.11",
            ],
        ),
        (
            "torch.onnx.export(a, b, c, dynamo=False, example_outputs=1, enable_onnx_checker=1)",
            ["`torch.onnx.export` takes no `example_outputs` and `enable_onnx_checker` since torch 1.11"],
        ),
        (
            "torchvision.models.detection.fasterrcnn_resnet50_fpn(pretrained=a, pretrained_backbone=b)",
            [
                "`pretrained` and `pretrained_backbone` of `torchvision.models.detection.fasterrcnn_resnet50_fpn` are "
                "deprecated since torchvision 0.13: use `weights` and `weights_backbone`"
            ],
        ),
        (
            "torch.nn.MSELoss(size_average=True, reduce=False)",
            ['`size_average` and `reduce` of `torch.nn.MSELoss` are deprecated: use `reduction="none"`'],
        ),
    ],
)
def test_arguments_are_told_together_that_go_the_same_way(call: str, said: list[str]) -> None:
    text = f"import torch, torchvision\n\ndef made(a, b, c):\n    return {call}\n"
    found = [each.message for each in lint(text).findings if each.code == "TLN903"]
    assert sorted(found) == sorted(said)


@pytest.mark.parametrize("average", ["", "None", "True", "False", "0", "1", "'none'", "'sum'", "''"])
@pytest.mark.parametrize("reduce", ["", "None", "True", "False", "0", "1", "'none'", "'mean'", "'sum'", "''"])
def test_the_reduction_that_is_named_is_the_one_of_today(average: str, reduce: str) -> None:
    """Torch itself is asked; another one is named where a text says what was meant."""
    said = {"size_average": average, "reduce": reduce}
    call = f"torch.nn.MSELoss({', '.join(f'{name}={value}' for name, value in said.items() if value)})"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        today = eval(call, {"torch": torch}).reduction
    found = [each.message for each in lint(f"import torch\n\n{call}\n").findings if each.code == "TLN903"]
    meant = {value.strip("'") for value in said.values() if value in ("'none'", "'mean'", "'sum'")} - {today}
    assert len(found) == (not {average, reduce} <= {"", "None"})
    for each in found:
        assert f'use `reduction="{today}"`' in each
        assert any(f'if meant, `reduction="{other}"`' in each for other in meant) is (bool(meant) and today != "none")


@pytest.mark.parametrize(
    ("call", "said", "is_fixed"),
    [
        ("(size_average=False, reduce=reduce)", "use `reduction`", False),  # False would mean "none"
        ("(size_average=reduce, reduce=False)", 'use `reduction="none"`', False),
        ("(size_average=False, reduce=len)", "use `reduction`", False),
        (
            "(size_average=False, reduction='none')",
            'use `reduction="sum"` (today\'s: it counts, not `reduction`)',
            False,
        ),
        ("(size_average=False, reduction=reduce)", 'use `reduction="sum"`', False),
        ("(size_average=False)", 'use `reduction="sum"`', True),
    ],
)
def test_what_else_a_loss_is_given_may_mean_something_else(call: str, said: str, is_fixed: bool) -> None:
    text = f"import torch\n\ndef made(reduce=None):\n    return torch.nn.MSELoss{call}\n"
    (finding,) = [each for each in lint(text).findings if each.code == "TLN903"]
    assert said in finding.message
    assert (finding.fix is not None) is is_fixed


@pytest.mark.parametrize(("oldest", "is_told"), [("1.13", True), ("2.0", True), ("2.1", False)])
def test_an_argument_that_came_later_than_the_oldest_torch_is_dated(oldest: str, is_told: bool) -> None:
    call = "torch.autograd.profiler.profile(use_cuda=True)"
    text = f"# /// script\n# dependencies = ['torch>={oldest}']\n# ///\nimport torch\n\nprint({call})\n"
    (found,) = [each for each in lint(text).findings if each.code == "TLN903"]
    assert ('use `use_device="cuda"`, there since torch 2.1' in found.message) is is_told


@pytest.mark.parametrize(("name", "instead"), [("load", "load"), ("save", "save"), ("script", "export")])
def test_each_part_of_torchscript_has_its_part_of_export(name: str, instead: str) -> None:
    text = f"import torch\n\nprint(torch.jit.{name}(3))\n"
    (found,) = [each for each in lint(text, strict=True).findings if each.code == "TLN902"]
    assert f"use `torch.export.{instead}`" in found.message
