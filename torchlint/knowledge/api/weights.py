"""
Which weights `pretrained=True` of torchvision's models stands for.

Known from the decorators of torchvision's own functions (`handle_legacy_interface` in
https://github.com/pytorch/vision/tree/v0.13.0/torchvision/models and later). It never imports torchvision.
"""

from __future__ import annotations

from torchlint.knowledge.api.find import MODELS

_OF_PACKAGES = {
    "detection": "COCO_V1",
    "segmentation": "COCO_WITH_VOC_LABELS_V1",
    "video": "KINETICS400_V1",
}
_OF_IMAGENET = "IMAGENET1K_V1"
_OTHERS = {
    "raft_large": "C_T_SKHT_V2",
    "raft_small": "C_T_V2",
    "resnet_fpn_backbone": _OF_IMAGENET,
    "mobilenet_backbone": _OF_IMAGENET,
}
_NEVER_TRAINED_SO = frozenset({"vit_h_14", "regnet_y_128gf"})


def trained(function: str, argument: str) -> str | None:
    """
    The name of the weights that `argument=True` stands for, as `weights=` takes it.

    Parameters
    ----------
    function
        In full, below `torchvision.models`.
    argument
        "pretrained" or "pretrained_backbone".

    Returns
    -------
    str or None
        None where the function refuses it, or where it depends on another argument (models of quantization).
    """
    path = function.removeprefix(MODELS + ".").split(".")
    name = path[-1]
    if name in _NEVER_TRAINED_SO or "quantization" in path:
        return None
    if argument == "pretrained_backbone":
        return "IMAGENET1K_FEATURES" if name == "ssd300_vgg16" else _OF_IMAGENET
    return _OTHERS.get(name) or _OF_PACKAGES.get(path[0], _OF_IMAGENET)
