"""What a star import brings is called like a function, whatever holds it."""

from __future__ import annotations

from pathlib import Path

from expectations import lint

TEXT = """
from .imports import *

class Deviance:
    def forward(self, inp, targ):
        inp = inp.flatten()
        torch.clamp_min_(inp, 0.1)
        return (targ * torch.exp(torch.log(inp))).mean()
"""


def test_a_function_of_a_module_that_came_with_a_star_is_no_method(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "imports.py").write_text("import torch\nfrom torch.nn import *\n")
    (package / "losses.py").write_text(TEXT.replace("Deviance", "Deviance(Module)"))
    found = lint((package / "losses.py").read_text(), path=str(package / "losses.py")).findings
    assert [each.code for each in found] == []
