"""Calls of what is gone, rewritten to other expressions, and what torch makes of these."""

from __future__ import annotations

import expectations
import pytest
import torch

from tests.knowledge.test_api import _rewritten
from torchlint.lint import fixpoint
from torchlint.lint.engine import check_text
from torchlint.lint.registry import Selection
from torchlint.syntax.text import Decoded

A = torch.tensor([[2.0, 1.0], [0.0, 4.0]])
B = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
X = torch.arange(24.0).reshape(2, 3, 4)


def unsafely(program: str) -> str:
    chosen = expectations.own()
    enabled = frozenset(rule.code for rule in chosen.rules if rule.code in ("TLN901", "TLN902"))
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


@pytest.mark.parametrize(
    ("body", "is_fixed"),
    [
        ("found, lu = torch.solve(B, A)", True),
        ("found, lu = torch.gesv(B, A)", True),
        ("found, vectors = torch.symeig(A @ A.T)", True),
        ("found, lu = torch.solve(B, A)\n    print(lu)", False),
        ("found, lu = torch.solve(B, A)\n    del lu", False),
        ("found, lu = torch.solve(B, A)\n    later = lambda: lu", False),
        ("global lu\n    found, lu = torch.solve(B, A)", False),
        ("found, self.lu = torch.solve(B, A)", False),
    ],
)
def test_a_result_that_nothing_reads(body: str, is_fixed: bool) -> None:
    program = f"import torch\n\ndef solved(A, B, self=None):\n    {body}\n    return found\n"
    after = unsafely(program)
    assert (after != program) is is_fixed
    if is_fixed:
        space: dict[str, object] = {}
        exec(after, space)
        found = space["solved"](A, B)  # type: ignore[operator]
        symmetric = torch.linalg.eigvalsh(A @ A.T)
        assert torch.allclose(found, symmetric) if "symeig" in body else torch.allclose(A @ found, B)


def test_the_inverse_is_an_unsafe_fix() -> None:
    program = "import torch\nfound = torch.ifft(X, 1, normalized=True)\n"
    assert _rewritten(program) == program
    numbers = torch.fft.fft(X.to(torch.complex64), norm="ortho")
    space = {"X": torch.view_as_real(numbers)}
    exec(unsafely(program), space)
    assert torch.allclose(space["found"][..., 0], X, atol=1e-4)


@pytest.mark.parametrize(
    ("call", "dimensions", "norm", "sizes"),
    [
        ("torch.irfft(X, 1, signal_sizes=sizes)", 1, "backward", "sizes"),
        ("torch.irfft(X, 2, True, signal_sizes=(2, 7))", 2, "ortho", "(2, 7)"),
        ("torch.irfft(X, 3, onesided=True, signal_sizes=(2, 2, *sizes))", 3, "backward", "(2, 2, *sizes)"),
    ],
)
def test_what_gives_real_numbers_gives_no_pairs(call: str, dimensions: int, norm: str, sizes: str) -> None:
    """`signal_sizes` are those of the dimensions that are transformed."""
    program = f"import torch\nfound = {call}\n"
    assert _rewritten(program) == program
    numbers = torch.fft.rfftn(torch.arange(24.0).reshape(2, 2, 6), dim=tuple(range(-dimensions, 0)))
    space = {"X": torch.view_as_real(numbers), "sizes": [6]}
    exec(unsafely(program), space)
    wanted = eval(sizes, {"sizes": space["sizes"]})
    expected = torch.fft.irfftn(numbers, s=wanted, dim=tuple(range(-dimensions, 0)), norm=norm)
    assert torch.allclose(space["found"], expected, atol=1e-5)


METHODS = {
    "found = B.solve(A)[0]": "found = torch.linalg.solve(A, B)",
    "found, _ = (B + 1).solve(A=A)": "found = torch.linalg.solve(A, B + 1)",
    "found, _ = A.symeig()": 'found = torch.linalg.eigvalsh(A, UPLO="U")',
    "found = A.t().symeig(False, upper=False).eigenvalues": 'found = torch.linalg.eigvalsh(A.t(), UPLO="L")',
    "found = A.symeig(eigenvectors=True)": 'found = torch.linalg.eigh(A, UPLO="U")',
    "found = A.rfft(1)": "found = torch.view_as_real(torch.fft.rfft(A))",
    "found = A.fft(1, True)": 'found = torch.view_as_real(torch.fft.fft(torch.view_as_complex(A), norm="ortho"))',
    "found = A.ifft(1)": "found = torch.view_as_real(torch.fft.ifft(torch.view_as_complex(A)))",
    "found = A.irfft(1, signal_sizes=(2,))": "found = torch.fft.irfftn(torch.view_as_complex(A), s=(2,), dim=(-1,))",
    "found = A.qr(some=False)": 'found = torch.linalg.qr(A, mode="complete")',
    "found = (A @ A.t()).cholesky(True)": "found = torch.linalg.cholesky(A @ A.t(), upper=True)",
}
"""Of a tensor, as the functions of the same names."""


@pytest.mark.parametrize("statement", METHODS)
def test_a_method_is_rewritten_as_its_function(statement: str) -> None:
    program = f"import torch\nA, B = torch.tensor([[2.0, 1.0], [0.0, 4.0]]), torch.ones(2, 2)\n{statement}\n"
    after = unsafely(program)
    assert after == program.replace(statement, METHODS[statement])
    exec(after, {})
    receiver, _, rest = statement.removeprefix("found, _").removeprefix("found").removeprefix(" = ").rpartition(".")
    if "(" not in receiver and not rest.startswith("eigenvalues"):
        name, _, arguments = rest.partition("(")
        function = f"torch.Tensor.{name}({receiver}, {arguments}".replace(", )", ")")
        assert unsafely(program.replace(f"{receiver}.{rest}", function)) == after


@pytest.mark.parametrize(
    "statement",
    [
        "found = A.symeig()",
        "found = B.solve(A)",
        "found = B.lstsq(A)[0]",
        "found = A.eig()[0]",
        "found = A.qr(some=flag)",
        "found = A.irfft(1)",
        "found = A.irfft(1, onesided=False, signal_sizes=(2,))",
        "found = (A  # one\n    .symeig(True))",
    ],
)
def test_no_fix_of_a_method_whose_function_has_none(statement: str) -> None:
    program = f"import torch\nA = B = torch.eye(2)\n{statement}\n"
    assert unsafely(program) == program


def test_a_method_of_a_long_receiver_is_found_in_the_module() -> None:
    """The new name does not begin with what the old one began with."""
    program = """import torch as th


class Spectrum(th.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = th.nn.Parameter(th.eye(2))

    def forward(self):
        return self.weight.symeig(eigenvectors=True)
"""
    after = unsafely(program)
    assert 'return torch.linalg.eigh(self.weight, UPLO="U")' in after
    assert "import torch\n" in after


@pytest.mark.parametrize("call", ["torch.rfft(X, count)", "torch.rfft(X, 1, onesided=flag)", "torch.rfft(X, 4)"])
def test_no_fix_where_the_transform_is_not_written_out(call: str) -> None:
    program = f"import torch\nfound = {call}\n"
    assert unsafely(program) == program
