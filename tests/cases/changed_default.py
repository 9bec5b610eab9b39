# ruff: noqa
"""Programs for TLN908."""

import torch


def floor_division():
    """Holds: half == -2"""
    from torch import nn

    # /// script
    # dependencies = ["torch>=1.8"]
    # ///

    half = torch.floor_divide(torch.tensor(-3.0), 2)  # warning: [TLN908]


def from_import():
    """Holds: half == -2"""
    from torch import nn

    # /// script
    # dependencies = ["torch>=1.12"]
    # ///

    from torch import floor_divide

    half = floor_divide(torch.tensor(-3.0), 2)  # warning: [TLN908]


def an_export():
    """Holds: torch.onnx.export.__kwdefaults__['dynamo'] is True"""
    from torch import nn

    # /// script
    # dependencies = ["torch>=2.5"]
    # ///

    def save(model, path):
        torch.onnx.export(model, torch.rand(1, 3), path)  # warning: [TLN908]


def an_export_a_line_each():
    """Holds: torch.onnx.export.__kwdefaults__['dynamo'] is True"""
    from torch import nn

    # /// script
    # dependencies = ["torch>=2.4,<2.10"]
    # ///

    def save(model, path):
        torch.onnx.export(  # warning: [TLN908]
            model,
            torch.rand(1, 3),  # one image
            path,
        )


def said():
    from torch import nn

    # /// script
    # dependencies = ["torch>=2.5"]
    # ///

    def save(model, path):
        torch.onnx.export(model, torch.rand(1, 3), path, dynamo=True)


def all_before():
    from torch import nn

    # /// script
    # dependencies = ["torch>=2.5,<2.9"]
    # ///

    def save(model, path):
        torch.onnx.export(model, torch.rand(1, 3), path)


def all_after():
    from torch import nn

    # /// script
    # dependencies = ["torch>=2.9"]
    # ///

    def save(model, path):
        torch.onnx.export(model, torch.rand(1, 3), path)


def handed_on():
    from torch import nn

    # /// script
    # dependencies = ["torch>=2.5"]
    # ///

    def save(model, path, **options):
        torch.onnx.export(model, torch.rand(1, 3), path, **options)


def rounding_said():
    from torch import nn

    # /// script
    # dependencies = ["torch>=1.8"]
    # ///

    half = torch.div(torch.tensor(-3.0), 2, rounding_mode="floor")


def several_exports():
    """Holds: torch.onnx.export.__kwdefaults__['dynamo'] is True"""
    from torch import nn

    # /// script
    # dependencies = ["torch>=2.5"]
    # ///

    def save(model, path):
        torch.onnx.export(model, torch.rand(1, 3), path)  # warning: [TLN908]
        torch.onnx.export(model, torch.rand(2, 3), path)


def one_release():
    from torch import nn

    # /// script
    # dependencies = ["torch==2.8.0"]
    # ///

    def save(model, path):
        torch.onnx.export(model, torch.rand(1, 3), path)


def repositories_that_torch_trusts_and_others():
    """Holds: 'openai' not in torch.hub._TRUSTED_REPO_OWNERS"""
    from torch import nn

    # /// script
    # dependencies = ["torch>=2.5"]
    # ///

    def backbone(folder, name):
        torch.hub.load("facebookresearch/dino:main", "dino_vits16")
        torch.hub.load(folder, name, source="local")
        torch.hub.load("/models/own", name, source="local")
        torch.hub.load(name, "model")
        torch.hub.load("pytorch/vision:v0.20.0", "resnet18", trust_repo=True)
        return torch.hub.load("openai/CLIP:main", "ViT_B_32")  # warning: [TLN908]


def an_export_that_only_the_new_one_takes():
    """Before 2.9 it is refused without `dynamo`: nothing changes in silence."""
    from torch import nn

    # /// script
    # dependencies = ["torch>=2.5"]
    # ///

    def save(model, path, shapes):
        torch.onnx.export(model, torch.rand(1, 3), path, dynamic_shapes=shapes)
