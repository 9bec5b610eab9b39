"""Calls of what is gone, rewritten to other expressions, and what torch makes of these."""

from __future__ import annotations

import pytest
import torch

from tests.knowledge.test_api import _rewritten
from torchlint.lint import fixpoint, registry
from torchlint.lint.engine import check_text
from torchlint.lint.registry import Selection
from torchlint.syntax.text import Decoded

A = torch.tensor([[2.0, 1.0], [0.0, 4.0]])
B = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
X = torch.arange(24.0).reshape(2, 3, 4)


def unsafely(program: str) -> str:
    chosen = registry.load()
    enabled = frozenset(rule.code for rule in chosen.rules if rule.code == "TLN901")
    return fixpoint.fix(
        Decoded(program), lambda text: check_text("/a.py", text, chosen, Selection(enabled)), unsafe=True
    ).text


@pytest.mark.parametrize(
    "statement",
    [
        "found = torch.solve(B, A).solution",
        "found = torch.solve(B, A)[0]",
        "found, _ = torch.solve(B, A)",
        "found = torch.solve(A=A, input=B)[0].contiguous()",
        "found, _ = torch.gesv(B, A)",
    ],
)
def test_a_solution_alone(statement: str) -> None:
    after = unsafely(f"import torch\n{statement}\n")
    space = {"A": A, "B": B}
    exec(after, space)
    assert torch.allclose(A @ space["found"], B)
    assert _rewritten(f"import torch\n{statement}\n") == f"import torch\n{statement}\n"


@pytest.mark.parametrize(
    "statement",
    [
        "found = torch.solve(B, A)",
        "found, lu = torch.solve(B, A)",
        "found = torch.solve(B, A)[1]",
        "found = torch.solve(B, A).LU",
        "found = torch.solve(B, A, out=(B, A))[0]",
        "found = torch.solve(*pair)[0]",
        "found = torch.solve(B, A)[index]",
    ],
)
def test_no_fix_where_more_than_the_solution_may_be_used(statement: str) -> None:
    program = f"import torch\n{statement}\n"
    assert unsafely(program) == program


@pytest.mark.parametrize(
    ("statement", "triangle"),
    [
        ("found, _ = torch.symeig(A)", "U"),
        ("found = torch.symeig(A, eigenvectors=False)[0]", "U"),
        ("found = torch.symeig(A, False, upper=False).eigenvalues", "L"),
    ],
)
def test_eigenvalues_alone(statement: str, triangle: str) -> None:
    space = {"A": A}
    exec(_rewritten(f"import torch\n{statement}\n"), space)
    assert torch.equal(space["found"], torch.linalg.eigvalsh(A, UPLO=triangle))


@pytest.mark.parametrize(
    "statement",
    [
        "found = torch.symeig(A)",
        "found, vectors = torch.symeig(A)",
        "found, _ = torch.symeig(A, eigenvectors=wanted)",
        "found, _ = torch.symeig(A, upper=wanted)",
    ],
)
def test_no_fix_where_more_than_the_values_may_be_used(statement: str) -> None:
    program = f"import torch\n{statement}\n"
    assert unsafely(program) == program


@pytest.mark.parametrize(
    ("call", "dimensions", "normalized", "onesided"),
    [
        ("torch.rfft(X, 1)", 1, False, True),
        ("torch.rfft(X, 1, onesided=False)", 1, False, False),
        ("torch.rfft(X, signal_ndim=2, onesided=False)", 2, False, False),
        ("torch.rfft(X, 2, True)", 2, True, True),
        ("torch.rfft(X, 3, False, False)", 3, False, False),
    ],
)
def test_a_transform_gives_pairs_of_numbers(call: str, dimensions: int, normalized: bool, onesided: bool) -> None:
    after = _rewritten(f"import torch\nfound = {call}\n")
    space = {"X": X}
    exec(after, space)
    over = tuple(range(-dimensions, 0))
    complete = torch.fft.fftn(X.to(torch.complex64), dim=over, norm="ortho" if normalized else "backward")
    expected = complete[..., : X.shape[-1] // 2 + 1] if onesided else complete
    assert torch.allclose(space["found"], torch.view_as_real(expected), atol=1e-5)


def test_the_inverse_is_an_unsafe_fix() -> None:
    program = "import torch\nfound = torch.ifft(X, 1, normalized=True)\n"
    assert _rewritten(program) == program
    numbers = torch.fft.fft(X.to(torch.complex64), norm="ortho")
    space = {"X": torch.view_as_real(numbers)}
    exec(unsafely(program), space)
    assert torch.allclose(space["found"][..., 0], X, atol=1e-4)


@pytest.mark.parametrize("call", ["torch.rfft(X, count)", "torch.rfft(X, 1, onesided=flag)", "torch.rfft(X, 4)"])
def test_no_fix_where_the_transform_is_not_written_out(call: str) -> None:
    program = f"import torch\nfound = {call}\n"
    assert unsafely(program) == program
