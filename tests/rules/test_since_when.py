"""Since when a model trains in evaluation mode: what is not known to have been built here may have been before."""

from __future__ import annotations

import pytest
from expectations import lint


@pytest.mark.parametrize(
    ("model", "since"),
    [
        ("nn.Sequential(nn.Linear(2, 2), nn.Dropout())", "from the next iteration on `model` trains"),
        ("load(nn.Linear(2, 2))", "from the next iteration on, if not before, `model` trains"),
    ],
)
def test_what_is_loaded_may_be_in_evaluation_mode_from_the_start(model: str, since: str) -> None:
    text = (
        "import torch\nfrom torch import nn\nfrom elsewhere import load\n\n"
        f"model = {model}\n"
        "optimizer = torch.optim.SGD(model.parameters(), 0.1)\n"
        "for x in torch.rand(3, 4, 2):\n"
        "    optimizer.zero_grad()\n"
        "    model(x).sum().backward()\n"
        "    optimizer.step()\n"
        "    model.eval()\n"
    )
    (found,) = [each for each in lint(text, codes=["TLN407"]).findings if each.code == "TLN407"]
    assert found.message.startswith(since)
