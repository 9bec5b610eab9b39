# ruff: noqa
"""Programs for TLN901."""

import torch
import functools
from torch import nn


def as_an_alias():
    """Raises: now removed"""
    rank = torch.matrix_rank  # error: [TLN901]
    rank(torch.eye(2))


def by_another_name_of_torch():
    """Raises: now removed"""
    import torch as th

    th.solve(th.eye(2), th.eye(2))  # error: [TLN901]


def from_import():
    """Raises: now removed"""
    from torch import lstsq  # error: [TLN901]

    lstsq(torch.eye(2), torch.eye(2))


def import_of_what_is_gone():
    """Raises: ImportError"""
    from torch import rfft  # error: [TLN901]


def module_that_is_gone():
    """Raises: ModuleNotFoundError"""
    from torch._six import string_classes  # error: [TLN901]


def in_a_partial():
    """Raises: now removed"""
    eig = functools.partial(torch.eig, eigenvectors=True)  # error: [TLN901]
    eig(torch.eye(2))


def several_of_one_name():
    """Raises: no attribute 'gesv'"""
    x, _ = torch.gesv(torch.eye(2), torch.eye(2))  # error: [TLN901]
    y, _ = torch.gesv(torch.eye(2), torch.eye(2))


def dead_code():
    """Raises: no attribute 'potrf'"""

    def never(x):
        return torch.potrf(x)  # error: [TLN901]

    never(torch.eye(2))


def asked_by_hasattr():
    A = torch.eye(2)
    rank = torch.linalg.matrix_rank(A) if hasattr(torch.linalg, "matrix_rank") else torch.matrix_rank(A)


def asked_by_version():
    version = tuple(int(part) for part in torch.__version__.split(".")[:2])
    if version < (1, 8):
        torch.rfft(torch.rand(4), 1)
    else:
        torch.fft.rfft(torch.rand(4))


def asked_once_and_for_all():
    TORCH_1_8 = torch.__version__ < "1.8"

    def spectrum(x):
        if TORCH_1_8:
            return torch.rfft(x, 1)
        return torch.fft.rfft(x)

    spectrum(torch.rand(4))


def leaves_early():
    def spectrum(x):
        if hasattr(torch, "fft") and hasattr(torch.fft, "rfft"):
            return torch.fft.rfft(x)
        return torch.rfft(x, 1)

    spectrum(torch.rand(4))


def tried():
    try:
        from torch._six import string_classes
    except ImportError:
        string_classes = (str, bytes)


def somebody_elses_name():
    class torch:
        @staticmethod
        def symeig(x):
            return x

    torch.symeig(2)


def its_own():
    torch.symeig = lambda A: torch.linalg.eigh(A)
    torch.symeig(torch.eye(2))


def expected_to_fail():
    from contextlib import suppress

    with suppress(AttributeError):
        torch.gesv(torch.eye(2), torch.eye(2))
