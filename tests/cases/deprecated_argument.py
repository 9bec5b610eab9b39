# ruff: noqa
"""Programs for TLN903."""

import torch
import torch.nn.functional as F
from torch import nn


def of_a_function():
    """Warns: size_average and reduce args will be deprecated"""
    F.mse_loss(torch.ones(2), torch.zeros(2), size_average=False)  # warning: [TLN903]


def both():
    """Warns: size_average and reduce args will be deprecated"""
    nn.CrossEntropyLoss(None, size_average=True, reduce=False)  # warning: [TLN903]


def by_position():
    """Warns: size_average and reduce args will be deprecated"""
    nn.MSELoss(False)  # warning: [TLN903]


def not_written():
    """Warns: size_average and reduce args will be deprecated"""
    average = len("ab") > 1
    nn.BCELoss(size_average=average)  # warning: [TLN903]


def volatile():
    """Warns: volatile was removed and now has no effect"""
    torch.autograd.Variable(torch.ones(2), volatile=True)  # warning: [TLN903]


def retain_variables():
    """Raises: unexpected keyword argument 'retain_variables'"""
    x = torch.ones(2, requires_grad=True)
    x.exp().sum().backward(retain_variables=True)  # error: [TLN903]  # smell: [TLN102]


def quiet_scheduler():
    """Raises: unexpected keyword argument 'verbose'"""
    optimizer = torch.optim.SGD(nn.Linear(2, 2).parameters(), lr=0.1)
    torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, "min", verbose=False)  # error: [TLN903]


def checkpoint():
    """Warns: the use_reentrant parameter should be passed explicitly"""
    from torch.utils.checkpoint import checkpoint

    checkpoint(torch.exp, torch.ones(2, requires_grad=True))  # warning: [TLN903]


def cross():
    """Warns: Using torch.cross without specifying the dim arg is deprecated"""
    torch.cross(torch.rand(3, 3), torch.rand(3, 3))  # warning: [TLN903]


def clamped():
    """Warns: `min_value` is deprecated and renamed to `min_val`"""
    nn.Hardtanh(min_value=-2.0)  # warning: [TLN903]


def none_is_not_given():
    import warnings

    warnings.simplefilter("error")
    F.mse_loss(torch.ones(2), torch.zeros(2), size_average=None, reduce=None, reduction="sum")
    nn.MSELoss(None, None, "none")


def one_is_none():
    """Warns: size_average and reduce args will be deprecated"""
    F.mse_loss(torch.ones(2), torch.zeros(2), size_average=None, reduce=True)  # warning: [TLN903]


def base_class_of_a_scheduler():
    """Raises: positional arguments but 4 were given"""
    from torch.optim.lr_scheduler import LRScheduler

    class Constant(LRScheduler):
        def __init__(self, optimizer, last_epoch=-1):
            super(Constant, self).__init__(optimizer, last_epoch, False)  # error: [TLN903]

        def get_lr(self):
            return self.base_lrs

    Constant(torch.optim.SGD(nn.Linear(2, 2).parameters(), lr=0.1))


def base_class_of_another_scheduler():
    from torch.optim.lr_scheduler import LambdaLR

    class Quiet:
        def __init__(self, verbose):
            self.verbose = verbose

    class Warm(Quiet, LambdaLR):
        def __init__(self, optimizer):
            super().__init__(verbose=False)

    class Cold(LambdaLR):
        def __init__(self, optimizer):
            super().__init__(optimizer, lambda epoch: 1.0)

    Warm(None)
    Cold(torch.optim.SGD(nn.Linear(2, 2).parameters(), lr=0.1))


def transform_of_real_numbers():
    """Raises: stft requires the return_complex parameter be given for real inputs"""
    signal = torch.rand(2, 400)
    spectrum = torch.stft(signal, 100, window=torch.hann_window(100))  # warning: [TLN903]


def transform_of_complex_numbers():
    def spectra(signal, layout):
        if layout == "pairs":
            both = torch.view_as_complex(signal)
        else:
            both = signal
        return torch.stft(both, 100, window=torch.hann_window(100)).abs()

    spectra(torch.rand(2, 400, 2), "pairs")
    samples = torch.rand(400, dtype=torch.complex64)
    shifted = samples * 2
    spectrum = torch.stft(shifted, 100, window=torch.hann_window(100))


def said():
    from torch.utils.checkpoint import checkpoint

    nn.MSELoss(reduction="sum")
    checkpoint(torch.exp, torch.ones(2, requires_grad=True), use_reentrant=False)
    torch.cross(torch.rand(3, 3), torch.rand(3, 3), dim=1)
    torch.cross(torch.rand(3, 3), torch.rand(3, 3), -1)


def said_elsewhere():
    from torch.utils.checkpoint import checkpoint

    options = {"use_reentrant": False}
    checkpoint(torch.exp, torch.ones(2, requires_grad=True), **options)


def as_another_function_of_that_name():
    from torch.utils.checkpoint import checkpoint

    class Block(nn.Linear):
        def forward(self, x):
            return checkpoint(self.part, (x, x), self.parameters(), True)

        def part(self, x, context=None):
            return super().forward(x)

    try:
        Block(2, 2)(torch.ones(1, 2))
    except TypeError:
        pass


def inputs_that_are_a_tuple():
    """Warns: the use_reentrant parameter should be passed explicitly"""
    from torch.utils.checkpoint import checkpoint

    def total(pair, scale):
        return (pair[0] + pair[1]) * scale

    x = torch.ones(2, requires_grad=True)
    checkpoint(total, (x, x), x)  # warning: [TLN903]


def own_checkpoint():
    def checkpoint(function, x):
        return function(x)

    checkpoint(torch.exp, torch.ones(2))


def own_loss():
    class Loss(nn.Module):
        def __init__(self, size_average=True):
            super().__init__()
            self.size_average = size_average

        def forward(self, x):
            return x.mean() if self.size_average else x.sum()

    Loss(size_average=False)(torch.ones(2))


def asked_before():
    import inspect

    optimizer = torch.optim.SGD(nn.Linear(2, 2).parameters(), lr=0.1)
    if "verbose" in inspect.signature(torch.optim.lr_scheduler.StepLR).parameters:
        torch.optim.lr_scheduler.StepLR(optimizer, 2, verbose=True)


def verbose_of_something_else():
    def load(path, verbose=False):
        return path

    load("a", verbose=True)


def keyword_of_the_function():
    """Raises: Unexpected keyword arguments: scale"""
    from torch.utils.checkpoint import checkpoint

    def scaled(x, scale=None):
        return x.exp() if scale is None else x * scale

    checkpoint(scaled, torch.ones(2, requires_grad=True), scale=None)  # error: [TLN903]


def keyword_of_a_module():
    """Raises: Unexpected keyword arguments: input"""
    import torch.utils.checkpoint as cp

    cp.checkpoint(nn.Linear(2, 2), input=torch.ones(1, 2))  # error: [TLN903]


def contexts_of_the_other_way():
    """Raises: Passing `context_fn` or `debug` is only supported when use_reentrant=False"""
    from contextlib import nullcontext
    from torch.utils.checkpoint import checkpoint

    x = torch.ones(2, requires_grad=True)
    checkpoint(torch.exp, x, context_fn=lambda: (nullcontext(), nullcontext()))  # error: [TLN903]


def keyword_of_checkpoint():
    """Warns: the use_reentrant parameter should be passed explicitly"""
    from torch.utils.checkpoint import checkpoint

    checkpoint(torch.exp, torch.ones(2, requires_grad=True), preserve_rng_state=False)  # warning: [TLN903]


def keywords_that_are_taken():
    from torch.utils.checkpoint import checkpoint

    x = torch.ones(1, 2, requires_grad=True)
    checkpoint(nn.Linear(2, 2), input=x, use_reentrant=False)
    options = {"use_reentrant": False}
    checkpoint(nn.Linear(2, 2), input=x, **options)


def none_is_passed_on():
    class Loss(nn.CrossEntropyLoss):
        def __init__(self, weight=None, size_average=None, *, reduce=None):
            super().__init__(weight, size_average, reduce=reduce)

    class Kept(nn.Module):
        def __init__(self, size_average=None):
            super().__init__()
            self.size_average = size_average

        def forward(self, x, y):
            return F.mse_loss(x, y, size_average=self.size_average)

    def loss(x, y, average=None):
        return F.mse_loss(x, y, size_average=average)

    Loss()
    Kept()(torch.ones(2), torch.zeros(2))
    loss(torch.ones(2), torch.zeros(2))


def a_value_is_passed_on():
    """Warns: size_average and reduce args will be deprecated"""

    class Loss(nn.CrossEntropyLoss):
        def __init__(self, weight=None, size_average=True):
            super().__init__(weight, size_average)  # warning: [TLN903]

    Loss()


def another_value_takes_its_place():
    """Warns: size_average and reduce args will be deprecated"""

    def loss(x, y, average=None):
        average = True
        return F.mse_loss(x, y, size_average=average)  # warning: [TLN903]

    loss(torch.ones(2), torch.zeros(2))


def behind_a_return():
    def grid(a, b):
        return a[:, None] + b
        x, y = torch.meshgrid(a, b)
        return x + y

    grid(torch.ones(2), torch.ones(2))


def behind_two_arms():
    def grid(a, b, wide=True):
        if wide:
            return a[:, None] + b
        else:
            raise ValueError(wide)
        return torch.meshgrid(a, b)

    grid(torch.ones(2), torch.ones(2))


def never():
    def grid(a, b):
        if False:
            return torch.meshgrid(a, b)
        while 0:
            torch.meshgrid(a, b)
        if not True and a:
            torch.meshgrid(a, b)
        return torch.meshgrid(a, b) if False else a

    grid(torch.ones(2), torch.ones(2))


def behind_one_arm():
    """Warns: torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument"""

    def grid(a, b, wide=True):
        if not wide:
            return a
        if True:
            return torch.meshgrid(a, b)  # warning: [TLN903]

    grid(torch.ones(2), torch.ones(2))


def with_an_argument_that_the_function_never_took():
    def grid(a, b):
        return torch.meshgrid(a, b, device=a.device)  # TypeError, with `indexing` or without

    try:
        grid(torch.ones(2), torch.ones(2))
    except TypeError:
        pass


def a_loss_with_an_argument_that_it_never_took():
    def build():
        return nn.MSELoss(size_average=False, scale=2)

    try:
        build()
    except TypeError:
        pass


def with_an_argument_that_it_takes_by_another_name():
    """Warns: Using torch.cross without specifying the dim arg is deprecated"""
    torch.cross(torch.ones(3, 3), x2=torch.ones(3, 3))  # warning: [TLN903]


def a_loss_with_all_that_it_takes():
    """Warns: size_average and reduce args will be deprecated"""
    nn.CrossEntropyLoss(weight=None, size_average=True, ignore_index=0, label_smoothing=0.1)  # warning: [TLN903]


def where_the_signature_has_it():
    from inspect import signature

    def parameters_of(function):
        return signature(function).parameters

    def scheduler(optimizer):
        made = torch.optim.lr_scheduler.ReduceLROnPlateau
        if "verbose" in parameters_of(made):
            return torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, verbose=True)
        return torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)

    scheduler(torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1))


def where_another_name_is_asked_for():
    """Raises: unexpected keyword argument 'verbose'"""

    def scheduler(optimizer, mode="min"):
        if mode in ("min", "max"):
            return torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode, verbose=True)  # error: [TLN903]

    scheduler(torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1))


def one_that_is_gone_beside_one_that_is_still_taken():
    """Raises: unexpected keyword argument 'use_mtia'"""
    with torch.autograd.profiler.profile(
        use_mtia=False,  # error: [TLN903]
        use_cuda=True,  # warning: [TLN903]
    ):
        pass


def what_another_type_of_the_first_argument_takes():
    library = torch.library.Library("torchlint_case_of_arguments", "DEF")
    torch.library.define(library, "same(Tensor x) -> Tensor", alias_analysis="")

    @torch.library.impl(library, name="same", dispatch_key="CPU")
    def same(x):
        return x


def where_the_keywords_of_a_function_are_asked_for():
    def grid(a, b):
        if "indexing" in (torch.meshgrid.__kwdefaults__ or {}):
            return torch.meshgrid(a, b, indexing="ij")
        return torch.meshgrid(a, b)

    def other(a, b):
        defaults = torch.functional.meshgrid.__kwdefaults__
        return torch.meshgrid(a, b, indexing="ij") if defaults else torch.meshgrid(a, b)

    def third(a, b):
        if "indexing" in torch.meshgrid.__code__.co_varnames:
            return torch.meshgrid(a, b, indexing="ij")
        else:
            return torch.meshgrid(a, b)

    for each in (grid, other, third):
        each(torch.arange(2), torch.arange(3))


def where_something_else_is_asked_for():
    """Warns: it will be required to pass the indexing argument"""

    def grid(a, b):
        if "indexing" in grid.__name__:
            return torch.meshgrid(a, b, indexing="ij")
        return torch.meshgrid(a, b)  # warning: [TLN903]

    grid(torch.arange(2), torch.arange(3))


def a_text_for_reduce_is_true():
    """Holds: criterion.reduction == "mean" and loss.shape == ()"""
    criterion = nn.MSELoss(reduce="none")  # warning: [TLN903]
    loss = criterion(torch.ones(3), torch.zeros(3))
