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


def a_method_of_a_tensor():
    """Raises: This function was deprecated since version 1.9 and is now removed"""
    A = torch.eye(3)
    values, vectors = A.symeig(eigenvectors=True)  # error: [TLN901]


def a_method_of_a_result():
    """Raises: This function was deprecated since version 1.9 and is now removed"""
    A, b = torch.eye(3), torch.ones(3, 1)
    x, _ = (b + 1).solve(A @ A.t())  # error: [TLN901]


def a_method_of_a_parameter():
    """Raises: This function was deprecated since version 1.9 and is now removed"""

    class Spectrum(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.eye(3))

        def forward(self):
            return self.weight.eig()[0]  # error: [TLN901]

    Spectrum()()


def a_method_of_another_class():
    class System:
        def __init__(self, A):
            self.A = A

        def solve(self, b):
            return torch.linalg.solve(self.A, b)

        def rename(self, name):
            return self

    System(torch.eye(2)).rename("a").solve(torch.ones(2, 1))


def a_method_of_whatever_is_given():
    def spectrum(A):
        return A.symeig()

    class Matrix:
        def symeig(self):
            return 1

    spectrum(Matrix())


def a_product_with_whatever_is_given():
    class Matrix:
        def __init__(self, A):
            self.A = A

        def __mul__(self, other):
            return Matrix(self.A * other)

        def solve(self, b):
            return torch.linalg.solve(self.A, b)

    def solved(kernel, b):
        mask = torch.ones(2, 2)
        kernel = kernel * mask
        return kernel.solve(b)

    solved(Matrix(torch.eye(2)), torch.ones(2, 1))


def a_method_that_is_asked_for():
    A = torch.eye(3)
    if hasattr(torch.linalg, "eigh"):
        values, vectors = torch.linalg.eigh(A)
    else:
        values, vectors = A.symeig(eigenvectors=True)
    try:
        values = A.eig()
    except RuntimeError:
        values = torch.linalg.eig(A)


def a_method_of_an_array():
    import numpy as np

    table = np.rec.array([(1, 2)], dtype=[("a", int), ("b", int)])
    table.sort()
    print({"a": 1}.get("lstsq"))


def a_flag_that_an_import_sets():
    AVAILABLE = True
    try:
        from torch.ao.quantization.pt2e.export_utils import model_is_exported
    except Exception:
        AVAILABLE = False

    def train(module):
        if AVAILABLE and model_is_exported(module):
            return torch.ao.quantization.move_exported_model_to_train(module)
        return module.train()

    train(torch.nn.Linear(1, 1))


def what_only_raises_is_spoken_of():
    table = {torch.eig: 1, torch.symeig: 2}
    ignored = {torch.solve, torch.lstsq}
    names = [torch.eig, torch.matrix_rank]

    def is_old(function):
        return function is torch.solve or function in names

    is_old(torch.sin)


def what_only_raises_is_imported():
    from torch import eig, lstsq

    table = {eig: lstsq}


def what_only_raises_is_mapped():
    """Raises: now removed"""
    ranks = list(map(torch.matrix_rank, [torch.eye(2)]))  # error: [TLN901]


def what_is_gone_is_spoken_of():
    """Raises: no attribute"""
    ignored = {torch.ifft, torch.irfft}  # error: [TLN901]


def what_went_together():
    """Raises: no attribute"""
    a = torch.rfft(torch.rand(4), 1)  # error: [TLN901]
    b = torch.irfft(a, 1)
    c = torch.ifft(a, 1)


def what_a_module_lost_first():
    """Raises: ModuleNotFoundError"""
    from torch import nn

    # /// script
    # dependencies = ["torch>=1.9,<2"]
    # ///

    from torch._six import container_abcs  # error: [TLN901]


def what_a_module_still_had():
    from torch import nn

    # /// script
    # dependencies = ["torch>=1.9,<2"]
    # ///

    def classes():
        from torch._six import string_classes

        return string_classes


def transform_back_in_two_dimensions():
    """Raises: no attribute 'irfft'"""
    x = torch.rand(3, 8, 5, 2)
    y = torch.irfft(x, 2, signal_sizes=(8, 8))  # error: [TLN901]


def transform_back_of_both_sides():
    """Raises: no attribute 'irfft'"""
    x = torch.rand(3, 8, 8, 2)
    y = torch.irfft(x, 2, onesided=False)  # error: [TLN901]


def functions_chosen_where_it_is_asked():
    """Holds: not hasattr(torch, 'rfft')"""
    # /// script
    # dependencies = ["torch>=1.13"]
    # ///

    try:
        import torch.fft as new_fft
    except ImportError:
        new_fft = None

    def _old_rfft(x):
        return torch.rfft(x, 1)

    def _oldest_rfft(x):
        return torch.rfft(x, 1)  # error: [TLN901]

    def _new_rfft(x):
        return torch.view_as_real(new_fft.rfft(x, dim=-1))

    if new_fft is None:
        rfft = _old_rfft
    else:
        rfft = _new_rfft
    oldest = _oldest_rfft


def another_test_of_the_file_may_keep_it_from_there():
    """Raises: now removed"""
    BATCHED = hasattr(torch, "vmap")

    def rank(x):
        return torch.matrix_rank(x)  # warning: [TLN901]

    def ranks(x):
        return torch.vmap(rank)(x) if BATCHED else rank(x)

    rank(torch.eye(2))


def what_is_asked_about_its_own_class():
    """Raises: has no attribute 'legacy'"""

    def convert(model):
        if isinstance(model, str):
            return None
        elif isinstance(model, torch.legacy.nn.Sequential):  # error: [TLN901]
            return model

    convert(torch.nn.Linear(2, 2))
