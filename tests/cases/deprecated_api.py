# ruff: noqa
"""Programs for TLN902."""

import torch
import torch.nn.functional as F
from torch import nn


def autocast_of_cuda():
    """Warns: `torch.cuda.amp.autocast(args...)` is deprecated"""
    with torch.cuda.amp.autocast(enabled=False):  # warning: [TLN902]
        pass


def imported_autocast():
    """Warns: `torch.cuda.amp.autocast(args...)` is deprecated"""
    from torch.cuda.amp import autocast

    with autocast(False):  # warning: [TLN902]
        pass


def a_decorator():
    """Warns: `torch.cuda.amp.custom_fwd(args...)` is deprecated"""

    class Square(torch.autograd.Function):
        @staticmethod
        @torch.cuda.amp.custom_fwd  # warning: [TLN902]
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, gradient):
            (x,) = ctx.saved_tensors
            return 2 * x * gradient


def chain():
    """Warns: torch.chain_matmul is deprecated"""
    a, b = torch.ones(2, 2), torch.ones(2, 2)
    product = torch.chain_matmul(a, b, a)  # warning: [TLN902]


def factor():
    """Warns: torch.cholesky is deprecated"""
    torch.cholesky(torch.eye(2))  # warning: [TLN902]


def factor_with_a_flag():
    """Warns: torch.qr is deprecated"""
    some = True
    torch.qr(torch.eye(2), some=some)  # warning: [TLN902]


def upsample():
    """Warns: `nn.functional.upsample_nearest` is deprecated"""
    F.upsample_nearest(  # warning: [TLN902]
        torch.rand(1, 1, 2, 2),
        scale_factor=2,
    )


def renamed_twice_in_a_file():
    """Warns: `nn.init.normal` is now deprecated"""
    layer = nn.Linear(2, 2)
    nn.init.normal(layer.weight)  # warning: [TLN902]
    nn.init.normal(layer.bias)


def functorch_module():
    """Warns: We've integrated functorch into PyTorch"""
    from functorch import vmap, grad  # warning: [TLN902]

    vmap(torch.sin)(torch.ones(2))
    grad(torch.sin)(torch.tensor(1.0))


def only_documented():
    """Holds: 'torch.outer' in torch.ger.__doc__"""
    product = torch.ger(torch.ones(2), torch.ones(2))  # strict: [TLN902]


def new_names():
    with torch.amp.autocast("cuda", enabled=False):
        pass
    nn.init.normal_(nn.Linear(2, 2).weight)
    torch.linalg.norm(torch.ones(2))


def only_documented_and_not_the_same():
    u, s, v = torch.svd(torch.eye(2))
    torch.norm(torch.ones(2))


def range_of_python():
    for i in range(3):
        torch.arange(i)


def warnings_caught():
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.qr(torch.eye(2))


def a_parameter_of_that_name():
    def run(torch):
        return torch.qr(2)

    class Own:
        def qr(self, x):
            return x

    run(Own())


def a_method_of_another_class():
    class Table:
        def svd(self):
            return 1

    Table().svd()


def one_of_two():
    import random

    if random.random() > 2:
        from torch import outer as factor
    else:

        def factor(x):
            return x

    factor(torch.ones(2))


def a_fallback():
    layer = torch.nn.Linear(2, 2)
    norm = torch.nn.utils.weight_norm
    if hasattr(torch.nn.utils.parametrizations, "weight_norm"):
        norm = torch.nn.utils.parametrizations.weight_norm
    norm(layer)


def a_table_of_names():
    kept = {"normal": torch.nn.init.normal, "normal_": torch.nn.init.normal_}
    rules = {torch.nn.init.uniform: "old", torch.nn.init.uniform_: "new"}
    for name in kept:
        setattr(torch.nn.init, name, kept[name])
    len(rules)


def a_table_of_what_is_called():
    """Warns: is now deprecated in favor of"""
    start = {"gauss": torch.nn.init.normal}  # warning: [TLN902]
    start["gauss"](torch.empty(3))


def a_method_of_a_tensor():
    """Warns: torch.cholesky is deprecated"""
    A = torch.eye(3)
    L = (A @ A.t()).cholesky()  # warning: [TLN902]


def a_quiet_method_of_a_tensor():
    """Holds: outer.shape == (3, 3)"""
    outer = torch.ones(3).ger(torch.ones(3))  # strict: [TLN902]


def methods_of_other_objects():
    class Cholesky:
        def cholesky(self):
            return self

        def qr(self, code):
            return code

    Cholesky().cholesky().qr("a")
    torch.linalg.cholesky(torch.eye(2))


def what_went_together():
    """Warns: is now deprecated in favor of"""
    from torch.nn import init

    weight = torch.empty(3, 3)
    init.xavier_normal(weight)  # warning: [TLN902]
    init.normal(weight)
    init.constant(weight, 1)


def spoken_of():
    from torch.nn import functional as F

    ignored = {F.upsample, torch.nn.init.normal}
    table = {F.upsample: 1}
    print(F.upsample is F.relu, F.upsample in table)


def the_call_counts():
    """Warns: `torch.cuda.amp.GradScaler(args...)` is deprecated"""

    def scaled(loss, scaler: "torch.cuda.amp.GradScaler") -> torch.cuda.amp.GradScaler:
        scaler.scale(loss)
        return scaler

    scaled(torch.ones(()), torch.cuda.amp.GradScaler(enabled=False))  # warning: [TLN902]


def only_annotations():
    class Step:
        scaler: torch.cuda.amp.GradScaler = None

        def __call__(self, scaler: torch.cuda.amp.GradScaler | None = None):
            kept: torch.cuda.amp.GradScaler | None = scaler
            return kept

    Step()()


def asked_for_the_old_one():
    """Holds: not isinstance(scaler, torch.cuda.amp.GradScaler) and isinstance(scaler, torch.amp.GradScaler)"""
    scaler = torch.amp.GradScaler("cpu", enabled=False)
    if isinstance(scaler, torch.cuda.amp.GradScaler):  # warning: [TLN902]
        raise AssertionError


def asked_for_one_of_several():
    """Holds: not known"""
    scaler = torch.amp.GradScaler("cpu", enabled=False)
    known = isinstance(scaler, (int, torch.cuda.amp.GradScaler))  # warning: [TLN902]


def asked_for_the_new_one():
    scaler = torch.amp.GradScaler("cpu", enabled=False)
    assert isinstance(scaler, (int, torch.amp.GradScaler))


def asked_for_one_of_a_list():
    """Holds: not isinstance(scaler, SCALERS)"""
    SCALERS = (int, torch.cuda.amp.GradScaler)  # warning: [TLN902]
    scaler = torch.amp.GradScaler("cpu", enabled=False)
    if isinstance(scaler, SCALERS):
        raise AssertionError


def containers_are_asked_for():
    from torch import nn

    CONTAINERS = (nn.Container, nn.Sequential, nn.ModuleList)
    OTHERS = (nn.Identity,)

    def is_container(module):
        return isinstance(module, (*OTHERS, *CONTAINERS)) or type(module) in CONTAINERS

    is_container(nn.Sequential())


def a_container_is_asked_for():
    from torch import nn

    def is_leaf(module):
        return not isinstance(module, nn.Container) and not issubclass(type(module), (nn.Container, nn.Sequential))

    is_leaf(nn.Identity())


def a_list_that_is_called():
    """Warns: nn.init.normal"""
    MAKERS = (torch.nn.init.normal, torch.nn.init.zeros_)  # warning: [TLN902]
    for make in MAKERS:
        if make not in MAKERS[1:]:
            make(torch.empty(3))


def a_container_of_ones_own():
    """Warns: `nn.Container` is deprecated"""
    from torch import nn

    class Block(nn.Container):  # warning: [TLN902]
        pass

    Block()


def names_that_only_the_documentation_calls_deprecated():
    """Holds: product.shape == (2, 3)"""
    notes = {}
    notes.setdefault(torch.ger, "the outer product")
    product = torch.ger(torch.ones(2), torch.ones(3))  # strict: [TLN902]


def a_table_whose_entries_are_registered():
    import functools

    KNOWN = [torch.cholesky, torch.lu_solve, torch.sin]
    HANDLERS = {}
    for known in KNOWN:
        HANDLERS[known] = known.__name__

    @functools.wraps(torch.cholesky)
    def handled(x):
        return x

    handled(HANDLERS)


def a_table_whose_entries_are_handed_on():
    """Warns: torch.cholesky is deprecated"""
    KNOWN = [torch.cholesky, torch.sin]  # warning: [TLN902]

    def tried(function):
        return function(torch.eye(2))

    results = [tried(known) for known in KNOWN]


def a_long_table_of_what_there_is():
    EVERY = {
        torch: [torch.cholesky, torch.lu_solve, torch.sin, torch.cos, torch.tan, torch.exp, torch.log],
        torch.linalg: [torch.asin, torch.acos, torch.atan, torch.sinh, torch.cosh, torch.tanh, torch.qr],
    }
    assert torch.sin in EVERY[torch]


def a_long_table_that_is_put_together():
    """What is in it concerns who looks for these functions in a graph."""
    spoken_of = (  # noqa: F841
        (torch.eye, torch.full, torch.linspace, torch.logspace, torch.ones, torch.rand, torch.range)
        + (torch.zeros, torch.empty, torch.arange, torch.randint)
        + (torch.tensor,)
    )


def a_range_with_its_end():
    """Warns: torch.range is deprecated"""
    steps = torch.range(0, 3)  # warning: [TLN902]


def a_range_without_a_start():
    """Raises: missing 1 required positional argument"""
    steps = torch.range(5)  # warning: [TLN902]


def old_classes_that_something_may_be():
    KNOWN = dict.fromkeys([torch.amp.autocast_mode.autocast, torch.cuda.amp.autocast_mode.autocast])
    OLD = frozenset((torch.cpu.amp.autocast, torch.cuda.amp.GradScaler))

    def is_autocast(value):
        return value in (torch.amp.autocast, torch.cuda.amp.autocast) or value not in [torch.cpu.amp.autocast]

    assert is_autocast(torch.amp.autocast) and KNOWN and OLD


def old_classes_that_something_may_be_and_one_that_is_made():
    """Warns: `torch.cuda.amp.autocast(args...)` is deprecated"""
    assert torch.amp.autocast not in (torch.cuda.amp.autocast, torch.cpu.amp.autocast)
    with torch.cuda.amp.autocast(enabled=False):  # warning: [TLN902]
        pass


def old_classes_of_what_is_called():
    """Warns: `torch.cuda.amp.autocast(args...)` is deprecated"""
    for make in (torch.amp.autocast, torch.cuda.amp.autocast):  # warning: [TLN902]
        if make is not torch.amp.autocast:
            make(enabled=False)


def asked_for_the_old_one_beside_the_new_one():
    scaler = torch.amp.GradScaler("cpu", enabled=False)
    assert isinstance(scaler, (torch.cuda.amp.GradScaler, torch.amp.GradScaler))
    assert isinstance(scaler, torch.cuda.amp.GradScaler) or isinstance(scaler, torch.amp.grad_scaler.GradScaler)
    SCALERS = (torch.cuda.amp.GradScaler, torch.amp.GradScaler)
    assert isinstance(scaler, SCALERS)


def a_value_that_warns_where_it_is_read():
    """Warns: 'has_cuda' is deprecated"""
    is_built = torch.has_cuda == torch.backends.cuda.is_built()  # warning: [TLN902]


def imported_for_annotations_alone():
    """Holds: issubclass(GradScaler, torch.amp.GradScaler)"""
    from typing import Optional, Union

    from torch.cuda.amp import GradScaler  # strict: [TLN902]

    Stateful = Union[nn.Module, GradScaler]

    def step(loss: torch.Tensor, scaler: Optional[GradScaler] = None, kept: "list[Stateful]" = ()) -> None:
        loss.backward()


def imported_for_annotations_and_a_test():
    """Holds: not isinstance(torch.amp.GradScaler("cpu", enabled=False), GradScaler)"""
    from torch.cuda.amp import GradScaler  # warning: [TLN902]

    def is_scaler(scaler: GradScaler) -> bool:
        return isinstance(scaler, GradScaler)


def an_old_class_is_kept_to_be_called_without_a_device():
    """Warns: `torch.cuda.amp.autocast(args...)` is deprecated"""
    import functools

    amp_autocast = torch.cuda.amp.autocast  # warning: [TLN902]
    new = functools.partial(torch.amp.autocast, "cuda")
    for each in (amp_autocast, new):
        with each(enabled=False):
            pass


def an_old_scaler_is_handed_on():
    """Warns: `torch.cuda.amp.GradScaler(args...)` is deprecated"""

    def made(make=torch.cuda.amp.GradScaler):  # warning: [TLN902]
        return make(enabled=False)

    made()


def an_old_function_is_kept():
    """Warns: `nn.functional.upsample_nearest` is deprecated"""
    from torch.nn import functional as F

    for grown in (F.upsample_nearest, F.interpolate):  # warning: [TLN902]
        grown(torch.ones(1, 1, 2, 2), scale_factor=2)


def a_scaler_of_ones_own():
    """Warns: `torch.cuda.amp.GradScaler(args...)` is deprecated"""

    class Scaler(torch.cuda.amp.GradScaler):  # warning: [TLN902]
        pass

    Scaler(enabled=False)
