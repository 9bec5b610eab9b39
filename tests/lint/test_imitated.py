"""A package named `torch` that a project brings along is imported in place of PyTorch, and nothing is known of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from expectations import lint

PROGRAM = """
import torch

def step():
    w = torch.ones(3, requires_grad=True)
    w.add_(1)
    return torch._six.string_classes
"""


@pytest.mark.parametrize(
    ("file", "folder", "codes"),
    [
        ("jt/a.py", "torch", []),  # beside the package
        ("a.py", "torch", []),  # beside the script
        ("jt/a.py", "jt/torch", ["TLN203", "TLN901"]),  # within the package: `import torch` finds PyTorch
        ("jt/torch/a.py", "jt/torch", ["TLN203", "TLN901"]),
        ("jt/a.py", "jt/other", ["TLN203", "TLN901"]),
    ],
)
def test_whose_torch_it_is(tmp_path: Path, file: str, folder: str, codes: list[str]) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "p"\ndependencies = ["torch>=1.9"]\n')
    for each in ("jt", folder):
        (tmp_path / each).mkdir(parents=True, exist_ok=True)
        (tmp_path / each / "__init__.py").write_text("")
    path = tmp_path / file
    path.write_text(PROGRAM)
    found = lint(PROGRAM, path=str(path)).findings
    assert sorted(each.code for each in found if each.level.value != "strict") == codes
