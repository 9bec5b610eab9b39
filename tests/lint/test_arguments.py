"""What is said of several arguments of one call."""

from __future__ import annotations

import pytest
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
