"""A file whose `Tensor` is another's: its methods are no operations of torch, whatever their names are."""

import pytest
from expectations import lint

_SOFTPLUS = """

def softplus(input, beta=1):
    \"\"\"As of torch.\"\"\"
    scaled = input * float(beta)
    return (scaled.exp() + 1.0).log() / beta
"""


@pytest.mark.parametrize("head", ["from ..tensor import Tensor", "from mindspore import Tensor", "class Tensor: pass"])
def test_methods_of_another_tensor_are_none_of_torch(head: str) -> None:
    assert not lint(head + _SOFTPLUS, strict=True).findings


@pytest.mark.parametrize(
    "head",
    [
        "import torch",
        "from torch import Tensor",
        "import torch\nfrom .types import Tensor",
        "from .types import Tensor\ntry:\n    import torch.nn as nn\nexcept ImportError:\n    pass",
        "from .types import Array",
    ],
)
def test_methods_of_what_may_be_one_of_torch_are(head: str) -> None:
    assert [finding.code for finding in lint(head + _SOFTPLUS, strict=True).findings] == ["TLN605"]
