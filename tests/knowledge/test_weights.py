"""What `pretrained=True` stands for, and how it is rewritten."""

from __future__ import annotations

import pytest

from tests.knowledge.test_api import _rewritten
from torchlint.knowledge.api.weights import trained


@pytest.mark.parametrize(
    ("function", "argument", "weights"),
    [
        ("resnet50", "pretrained", "IMAGENET1K_V1"),
        ("resnet.resnet50", "pretrained", "IMAGENET1K_V1"),
        ("detection.ssd300_vgg16", "pretrained", "COCO_V1"),
        ("detection.ssd300_vgg16", "pretrained_backbone", "IMAGENET1K_FEATURES"),
        ("detection.backbone_utils.resnet_fpn_backbone", "pretrained", "IMAGENET1K_V1"),
        ("segmentation.fcn_resnet50", "pretrained", "COCO_WITH_VOC_LABELS_V1"),
        ("video.r3d_18", "pretrained", "KINETICS400_V1"),
        ("optical_flow.raft_small", "pretrained", "C_T_V2"),
        ("quantization.resnet50", "pretrained", None),  # by `quantize`
        ("vit_h_14", "pretrained", None),  # ValueError: has no weights for it
    ],
)
def test_the_weights_of_a_function(function: str, argument: str, weights: str | None) -> None:
    assert trained(f"torchvision.models.{function}", argument) == weights


@pytest.mark.parametrize(
    ("call", "rewritten"),
    [
        (
            "models.resnet50(pretrained=True, progress=False)",
            'models.resnet50(weights="IMAGENET1K_V1", progress=False)',
        ),
        ("models.resnet50(True)", 'models.resnet50(weights="IMAGENET1K_V1")'),
        ("models.resnet50(True, num_classes=2)", 'models.resnet50(weights="IMAGENET1K_V1", num_classes=2)'),
        ("models.resnet50(False)", "models.resnet50()"),
        (
            "models.detection.ssd300_vgg16(pretrained=False, pretrained_backbone=True)",
            'models.detection.ssd300_vgg16(weights=None, weights_backbone="IMAGENET1K_FEATURES")',
        ),
        ("models.resnet50(True, False)", None),  # what comes after would be `progress`, by position
        ("models.resnet50(pretrained=wanted)", None),
        ("models.resnet50(pretrained=True, **settings)", None),
        ("models.vit_h_14(pretrained=True)", None),
        ("models.quantization.resnet50(pretrained=True)", None),
        ("models.detection.ssd300_vgg16(pretrained=True, pretrained_backbone=wanted)", None),
    ],
)
def test_a_call_with_pretrained_weights(call: str, rewritten: str | None) -> None:
    program = "import torch\nfrom torchvision import models\nmodel = {}\n"
    assert _rewritten(program.format(call)) == program.format(rewritten or call)


def test_one_call_without_a_fix_does_not_keep_the_others_from_theirs() -> None:
    program = "import torch\nfrom torchvision import models\na = models.{}\nb = models.{}\nc = models.{}\n"
    calls = ("resnet18(pretrained=wanted)", "resnet34(pretrained=True)", "vgg16(pretrained=False)")
    fixed = ("resnet18(pretrained=wanted)", 'resnet34(weights="IMAGENET1K_V1")', "vgg16()")
    assert _rewritten(program.format(*calls)) == program.format(*fixed)
