"""What is said to take the place of a function that is gone, or goes: the words, and the release."""

from __future__ import annotations

import pytest
import torch
from expectations import lint
from torch.utils import _pytree


@pytest.mark.parametrize(
    ("program", "said"),
    [
        (
            "print(torch.eig(a))",
            "`torch.eig` does nothing but raise since torch 1.13; `torch.linalg.eig` takes its place, which gives "
            "complex tensors: the eigenvalues in one dimension, and always the eigenvectors",
        ),
        (
            "print(torch.irfft(a, 1, signal_sizes=b))",
            "`torch.irfft` is gone since torch 1.8; `torch.fft.irfft` takes its place, with complex numbers for pairs "
            "of real ones, and `dim` for `signal_ndim`, `n` for `signal_sizes`",
        ),
        (
            "print(torch.irfft(a, 2, signal_sizes=b))",
            "`torch.irfft` is gone since torch 1.8; `torch.fft.irfft2` takes its place, with complex numbers for pairs "
            "of real ones, and `dim` for `signal_ndim`, `s` for `signal_sizes`",
        ),
        (
            "print(torch.irfft(a, 2, onesided=False))",
            "`torch.irfft` is gone since torch 1.8; `torch.fft.ifft2` takes its place, with complex numbers for pairs "
            "of real ones, and `dim` for `signal_ndim`, and its real part",
        ),
        (
            "print(torch.rfft(a, 1))\nprint(torch.irfft(a, 1))",
            "`torch.rfft` is gone since torch 1.8; `torch.fft.rfft` takes its place, with complex numbers for pairs of "
            "real ones, and `dim` for `signal_ndim` "
            "(and 1 more mention: `torch.irfft` (now `torch.fft.irfft`), line 4)",
        ),
        (
            "print(torch.potrf(a))",
            "`torch.potrf` is gone since torch 1.2; `torch.linalg.cholesky` takes its place, which gives the lower "
            "factor unless told `upper=True`",
        ),
        (
            "print(torch.export.export_for_training(a, b))",
            "`torch.export.export_for_training` is gone since torch 2.11; `torch.export.export` takes its place, "
            "perhaps with other arguments",
        ),
        (
            "torch.onnx.set_training(a, b)",
            "`torch.onnx.set_training` is gone since torch 1.6; `torch.onnx.select_model_mode_for_export` takes its "
            "place, which takes a `torch.onnx.TrainingMode`, and is deprecated itself",
        ),
        (
            "from torch._six import string_classes",
            "`string_classes` is gone since torch 2.0 with all of `torch._six`",
        ),
        (
            "from torch._six import container_abcs, inf",
            "`container_abcs` is gone since torch 1.9, and all of `torch._six` since 2.0; `collections.abc` takes its "
            "place (and 1 more mention: `inf` (now `math.inf`), line 3)",
        ),
        ("from torch.onnx.verification import verify", "`verify` is gone since torch 2.9"),
        (
            "torch.nn.functional.upsample(a, 2)",
            "`torch.nn.functional.upsample` is deprecated since torch 0.4.1: use `torch.nn.functional.interpolate`",
        ),
        (
            "print(torch.range(1, 2))",
            "`torch.range` is deprecated since torch 0.4 or earlier: use `torch.arange`, which leaves out the end "
            "(write `end + 1` where the step is 1) and makes integers of integers",
        ),
        (
            "torch.utils._pytree._register_pytree_node(a, b, b)",
            "`torch.utils._pytree._register_pytree_node` is deprecated since torch 2.2: use "
            "`torch.utils._pytree.register_pytree_node`, there since torch 2.2, which raises ValueError for a type "
            "that is registered already, by torch itself or twice",
        ),
    ],
)
def test_the_words(program: str, said: str) -> None:
    found = lint(f"import torch\na = b = None\n{program}\n").findings
    assert [each.message for each in found if each.code in ("TLN901", "TLN902")] == [said]


def test_they_are_true() -> None:
    matrix = torch.eye(3, dtype=torch.float64) * 2
    values, vectors = torch.linalg.eig(matrix)
    assert values.is_complex()
    assert values.dim() == 1
    assert vectors.is_complex()
    assert torch.fft.irfft(torch.fft.rfft(torch.ones(5)), n=5).shape == (5,)
    assert torch.fft.irfft2(torch.fft.rfft2(torch.ones(5, 3)), s=(5, 3)).shape == (5, 3)
    skewed = torch.tensor([[2.0, 1.0], [1.0, 3.0]])
    assert torch.linalg.cholesky(skewed)[0, 1] == 0
    assert torch.linalg.cholesky(skewed, upper=True)[1, 0] == 0
    assert torch.allclose(torch.cholesky_inverse(torch.linalg.cholesky(skewed)), skewed.inverse())
    assert torch.linalg.lstsq(torch.ones(3, 2), torch.ones(3, 1)).solution.shape == (2, 1)
    with pytest.raises(ValueError, match="already registered"):
        _pytree.register_pytree_node(dict, lambda value: ([], None), lambda values, context: {})
