# ruff: noqa
"""Programs for TLN907."""

import torch


def a_function():
    """Holds: tuple(map(int, torch.__version__.split('.')[:2])) >= (2, 1)"""
    from torch import nn

    # /// script
    # dependencies = ["torch>=2.0"]
    # ///

    torch.compiler.is_compiling()
    mesh = torch.nested.nested_tensor_from_jagged  # error: [TLN907]


def an_import():
    """Holds: tuple(map(int, torch.__version__.split('.')[:2])) >= (2, 0)"""
    from torch import nn

    # /// script
    # dependencies = ["torch>=1.13,<3"]
    # ///

    from torch.func import vmap, grad  # error: [TLN907]

    vmap(torch.sin)(torch.ones(2))


def an_argument():
    """Holds: tuple(map(int, torch.__version__.split('.')[:2])) >= (2, 1)"""
    from torch import nn

    # /// script
    # dependencies = ["torch~=2.0"]
    # ///

    layer = nn.LayerNorm(3, bias=False)  # error: [TLN907]


def a_layer():
    """Holds: tuple(map(int, torch.__version__.split('.')[:2])) >= (2, 4)"""
    from torch import nn

    # /// script
    # dependencies = ["torch>=2.2"]
    # ///

    layer = nn.RMSNorm(3)  # error: [TLN907]
    other = nn.RMSNorm(4)


def an_optimizer():
    """Holds: tuple(map(int, torch.__version__.split('.')[:2])) >= (2, 5)"""
    from torch import nn

    # /// script
    # dependencies = ["torch>=2.0"]
    # ///

    optimizer = torch.optim.Adafactor([torch.ones(2)])  # error: [TLN907]


def asked_by_hasattr():
    from torch import nn

    # /// script
    # dependencies = ["torch>=1.13"]
    # ///

    if hasattr(nn, "RMSNorm"):
        nn.RMSNorm(3)


def asked_by_version():
    from torch import nn

    # /// script
    # dependencies = ["torch>=1.13"]
    # ///

    from torch.torch_version import TorchVersion

    if TorchVersion(torch.__version__) >= (2, 4):
        nn.RMSNorm(3)


def tried():
    from torch import nn

    # /// script
    # dependencies = ["torch>=1.13"]
    # ///

    try:
        from torch.func import vmap
    except ImportError:
        from functorch import vmap


def new_enough():
    from torch import nn

    # /// script
    # dependencies = ["torch>=2.4"]
    # ///

    nn.RMSNorm(3)
    nn.LayerNorm(3, bias=False)
    torch.func.vmap(torch.sin)(torch.ones(2))


def nobody_says():
    from torch import nn

    nn.RMSNorm(3)


def not_written_in_the_call():
    from torch import nn

    # /// script
    # dependencies = ["torch>=2.0"]
    # ///

    options = {"bias": False}
    nn.LayerNorm(3, **options)


def an_own_layer():
    from torch import nn

    # /// script
    # dependencies = ["torch>=2.0"]
    # ///

    class RMSNorm(nn.Module):
        def forward(self, x):
            return x

    nn.Sequential(RMSNorm())


def a_shim_of_its_own():
    from torch import nn

    # /// script
    # dependencies = ["torch>=2.0"]
    # ///

    nn.RMSNorm = getattr(nn, "RMSNorm", nn.LayerNorm)
    nn.RMSNorm(3)


def the_highest_release_is_shown():
    """Holds: tuple(map(int, torch.__version__.split('.')[:2])) >= (2, 4)"""
    from torch import nn

    # /// script
    # dependencies = ["torch>=2.0"]
    # ///

    torch.compiler.is_compiling()
    layer = nn.RMSNorm(3)  # error: [TLN907]
    other = nn.LayerNorm(3, bias=False)


def its_import_is_tried():
    from torch import nn

    # /// script
    # dependencies = ["torch>=2.1"]
    # ///

    try:
        from torch.nn.attention import flex_attention

        HAS = True
    except ImportError:
        HAS = False

    def masked(function):
        return flex_attention.create_block_mask(function, None, None, 1, 1)

    def chosen():
        return HAS


def another_import_is_tried():
    """Holds: tuple(map(int, torch.__version__.split('.')[:2])) >= (2, 4)"""
    from torch import nn

    # /// script
    # dependencies = ["torch>=2.1"]
    # ///

    try:
        import torch.nn.attention
    except ImportError:
        pass

    layer = nn.RMSNorm(3)  # error: [TLN907]


def a_function_answers():
    from torch import nn

    # /// script
    # dependencies = ["torch>=1.13"]
    # ///

    def can_normalise():
        if not hasattr(nn, "RMSNorm"):
            return False
        return True

    class Norms:
        def usable(self):
            return can_normalise()

        def make(self):
            if self.usable():
                return nn.RMSNorm(3)
            return nn.LayerNorm(3)

    Norms().make()


def a_function_answers_something_else():
    """Holds: tuple(map(int, torch.__version__.split('.')[:2])) >= (2, 4)"""
    from torch import nn

    # /// script
    # dependencies = ["torch>=1.13"]
    # ///

    def is_wide(size):
        return size > 2

    if is_wide(3):
        layer = nn.RMSNorm(3)  # warning: [TLN907]


def a_function_tries():
    from torch import nn

    # /// script
    # dependencies = ["torch>=2.1"]
    # ///

    def takes_a_device():
        try:
            torch.is_autocast_enabled("cpu")
            return True
        except TypeError:
            return False

    BY_DEVICE: bool = takes_a_device()

    if BY_DEVICE:

        def kind(device):
            return torch.get_autocast_dtype(device)

    else:

        def kind(device):
            return torch.get_autocast_cpu_dtype()

    kind("cpu")


def a_function_tries_what_it_is_told():
    from torch import nn

    # /// script
    # dependencies = ["torch>=2.1"]
    # ///

    def has(module, name):
        try:
            getattr(module, name)
        except AttributeError:
            return False
        return True

    layer = nn.RMSNorm(3) if has(nn, "RMSNorm") else nn.LayerNorm(3)


def a_constant_is_set_by_trying():
    from torch import nn

    # /// script
    # dependencies = ["torch>=2.1"]
    # ///

    CAN_NORMALISE = True
    try:
        kind = nn.RMSNorm
    except AttributeError:
        CAN_NORMALISE = False

    def made(size):
        if not CAN_NORMALISE:
            return nn.LayerNorm(size)
        return nn.RMSNorm(size)

    made(3)


def listed_in_the_module():
    from torch import nn

    # /// script
    # dependencies = ["torch>=2.1"]
    # ///

    if "RMSNorm" in dir(nn):
        nn.RMSNorm(3)
    elif "RMSNorm" in nn.__dict__:
        nn.RMSNorm(3)


def a_test_is_left_out():
    import unittest

    from torch import nn

    # /// script
    # dependencies = ["torch>=2.1"]
    # ///

    OLD = torch.__version__ < "2.4"

    class Norms(unittest.TestCase):
        @unittest.skipIf(OLD, "no such layer")
        def test_it(self):
            nn.RMSNorm(3)

        def test_another(self):
            if OLD:
                self.skipTest("no such layer")
            nn.RMSNorm(3)


def a_function_tries_something_else():
    """Holds: tuple(map(int, torch.__version__.split('.')[:2])) >= (2, 4)"""
    from torch import nn

    # /// script
    # dependencies = ["torch>=1.13"]
    # ///

    def is_number(word):
        try:
            float(word)
        except (TypeError, ValueError):
            return False
        return True

    if is_number("3"):
        layer = nn.RMSNorm(3)  # warning: [TLN907]


def a_test_is_left_out_for_another_reason():
    """Holds: tuple(map(int, torch.__version__.split('.')[:2])) >= (2, 4)"""
    import unittest

    from torch import nn

    # /// script
    # dependencies = ["torch>=1.13"]
    # ///

    class Norms(unittest.TestCase):
        @unittest.skipIf(torch.cuda.is_available(), "needs none")
        def test_it(self):
            nn.RMSNorm(3)  # warning: [TLN907]


def refused_before_where_it_is_missing():
    """Holds: hasattr(torch, 'compile')"""
    from torch import nn

    # /// script
    # dependencies = ["torch>=1.13"]
    # ///

    class Trainer:
        def __init__(self, model, torch_compile, other):
            if torch_compile and not hasattr(torch, "compile"):
                raise RuntimeError("needs torch 2.0")
            self.model, self.torch_compile, self.other = model, torch_compile, other

        def wrap(self):
            if self.torch_compile:
                self.model = torch.compile(self.model)
            if self.other:
                self.model = torch.compile(self.model)  # warning: [TLN907]

    Trainer(nn.Linear(2, 2), False, False).wrap()


def import_that_begins_a_long_try():
    # /// script
    # dependencies = ["torch>=1.13"]
    # ///
    try:
        from torch import compile

        first = compile
        second = first
        third = second
    except:
        third = None


def object_that_is_not_made_without_it():
    # /// script
    # dependencies = ["torch>=2.1"]
    # ///
    is_new = tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 4)

    class Strategy:
        def __init__(self, sizes):
            if not is_new:
                raise ImportError("needs torch 2.4")
            self.sizes = sizes

        def setup(self):
            from torch.distributed.device_mesh import init_device_mesh

            return init_device_mesh

    Strategy((1,)).setup()


def function_that_somebody_else_calls():
    """Holds: tuple(map(int, torch.__version__.split('.')[:2])) >= (2, 4)"""
    from torch import nn

    # /// script
    # dependencies = ["torch>=1.13"]
    # ///

    def layer(size):
        return nn.RMSNorm(size)  # warning: [TLN907]

    kinds = {"rms": layer}


def function_that_is_always_called():
    """Holds: tuple(map(int, torch.__version__.split('.')[:2])) >= (2, 4)"""
    from torch import nn

    # /// script
    # dependencies = ["torch>=1.13"]
    # ///

    def layer(size):
        return nn.RMSNorm(size)  # error: [TLN907]

    def main():
        print(layer(3))

    if __name__ == "__main__":
        main()


def setting_that_is_refused_in_two_steps():
    # /// script
    # dependencies = ["torch>=2.1"]
    # ///
    is_new = tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 4)

    class Strategy:
        def __init__(self, mesh=None):
            if mesh is not None:
                if not is_new:
                    raise ValueError("a mesh needs torch 2.4")
                self.mesh = mesh

        def setup(self):
            mesh = self.mesh
            if isinstance(mesh, tuple):
                from torch.distributed.device_mesh import init_device_mesh

                return init_device_mesh

    Strategy((1,)).setup()


def function_that_only_a_refused_object_calls():
    # /// script
    # dependencies = ["torch>=2.1"]
    # ///
    is_new = tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 4)

    class Strategy:
        def __init__(self):
            if not is_new:
                raise ImportError("needs torch 2.4")

        def setup(self):
            return _mesh()

    def _mesh():
        from torch.distributed.device_mesh import init_device_mesh

        return init_device_mesh

    Strategy().setup()


def annotations_of_a_functions_own_variables():
    from torch import nn

    # /// script
    # dependencies = ["torch>=1.12"]
    # ///

    def step():
        rate: torch.optim.lr_scheduler.LRScheduler = 1
        return rate


def an_annotation_of_a_class_in_a_function():
    """Holds: tuple(map(int, torch.__version__.split('.')[:2])) >= (2, 0)"""
    from torch import nn

    # /// script
    # dependencies = ["torch>=1.12"]
    # ///

    def step():
        class Rates:
            rate: torch.optim.lr_scheduler.LRScheduler = 1  # error: [TLN907]

        return Rates

    step()


def what_comes_first_of_what_is_missing():
    """Holds: tuple(map(int, torch.__version__.split('.')[:2])) >= (1, 10)"""
    from torch import linalg

    # /// script
    # dependencies = ["torch>=1.7"]
    # ///

    def kernel(vecs):
        cov = torch.cov(vecs.T)  # error: [TLN907]
        u, s, vh = linalg.svd(cov)
        return linalg.inv(u)

    kernel(torch.rand(4, 3))


def a_name_that_only_looks_like_one_of_torch():
    """Holds: tuple(map(int, torch.__version__.split('.')[:2])) >= (2, 1)"""
    from torch import nn

    # /// script
    # dependencies = ["torch>=2.0"]
    # ///
    SGPT_PRECISION = torch.float32

    def layer(prompt_length, torch_generator=None):
        if prompt_length:
            bound = torch.tensor(3).to(SGPT_PRECISION)
            if bound < prompt_length:
                raise ValueError("too long")
        if torch_generator is None or prompt_length:
            return nn.LayerNorm(3, bias=False)  # warning: [TLN907]

    layer(2)


def a_name_of_torch_and_a_release():
    from torch import nn

    # /// script
    # dependencies = ["torch>=2.0"]
    # ///
    IS_TORCH_GE_2_1 = pt_ge_21 = hasattr(torch, "compiler")

    def layer():
        if IS_TORCH_GE_2_1:
            return nn.LayerNorm(3, bias=False)
        if pt_ge_21:
            return nn.LayerNorm(3, bias=False)

    layer()


def after_an_import_of_what_came_later():
    from torch import nn

    # /// script
    # dependencies = ["torch>=2.0"]
    # ///
    def gathered(model):
        try:
            from torch.distributed.fsdp import FSDPModule
        except Exception:
            return None
        if not isinstance(model, FSDPModule):
            return None
        from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict

        return get_model_state_dict(model, options=StateDictOptions(full_state_dict=True))

    gathered(nn.Linear(2, 2))


def after_an_import_that_may_fail():
    """Holds: tuple(map(int, torch.__version__.split('.')[:2])) >= (2, 2)"""
    from torch import nn

    # /// script
    # dependencies = ["torch>=2.0"]
    # ///
    def gathered(model):
        try:
            from torch.distributed.fsdp import FSDPModule
        except ImportError:
            FSDPModule = nn.Linear
        if not isinstance(model, FSDPModule):
            model = None
        from torch.distributed.checkpoint.state_dict import StateDictOptions  # warning: [TLN907]

        return StateDictOptions(full_state_dict=True)

    gathered(nn.Linear(2, 2))


def after_an_import_of_what_came_earlier():
    """Holds: tuple(map(int, torch.__version__.split('.')[:2])) >= (2, 6)"""
    from torch import nn

    # /// script
    # dependencies = ["torch>=2.0"]
    # ///
    def kind():
        try:
            from torch.distributed.checkpoint.state_dict import StateDictOptions
        except ImportError:
            return None
        from torch.distributed.fsdp import FSDPModule  # warning: [TLN907]

        return FSDPModule

    kind()


def a_first_argument_of_a_function_that_took_none():
    """Holds: tuple(map(int, torch.__version__.split('.')[:2])) >= (2, 4)"""
    from torch import nn

    # /// script
    # dependencies = ["torch>=2.2"]
    # ///
    def dtype(device):
        if device.type in ("cuda", "cpu") and torch.is_autocast_enabled(device.type):  # warning: [TLN907]
            return torch.get_autocast_dtype(device_type=device.type)
        return torch.float32

    dtype(torch.device("cpu"))


def a_first_argument_that_moves_the_other():
    """Holds: tuple(map(int, torch.__version__.split('.')[:2])) >= (2, 4)"""
    from torch import nn

    # /// script
    # dependencies = ["torch>=2.2"]
    # ///
    torch.set_autocast_enabled(False)
    torch.set_autocast_enabled("cpu", False)  # error: [TLN907]


def as_they_were_without_a_device():
    from torch import nn

    # /// script
    # dependencies = ["torch>=2.2"]
    # ///
    if not torch.is_autocast_enabled():
        torch.set_autocast_enabled(False)


def an_attribute_that_holds_the_answer():
    from torch import nn

    # /// script
    # dependencies = ["torch>=2.0"]
    # ///
    class Norm(nn.Module):
        def __init__(self):
            super().__init__()
            self.native = float(torch.__version__[:3]) >= 2.4

        def forward(self, x):
            if self.native:
                return nn.functional.rms_norm(x, (2,))
            return x

    Norm()(torch.rand(2))


def an_attribute_that_holds_a_wish():
    """Holds: tuple(map(int, torch.__version__.split('.')[:2])) >= (2, 4)"""
    from torch import nn

    # /// script
    # dependencies = ["torch>=2.0"]
    # ///
    class Norm(nn.Module):
        def __init__(self, native=True):
            super().__init__()
            self.native = native

        def forward(self, x):
            if self.native:
                return nn.functional.rms_norm(x, (2,))  # warning: [TLN907]
            return x

    Norm()(torch.rand(2))


def the_module_is_new_and_not_the_name():
    """Holds: tuple(map(int, torch.__version__.split('.')[:2])) >= (2, 3)"""
    from torch import nn

    # /// script
    # dependencies = ["torch>=2.2"]
    # ///
    from torch.export.dynamic_shapes import Dim  # error: [TLN907]

    print(Dim)


def what_a_new_module_had_later():
    """Holds: tuple(map(int, torch.__version__.split('.')[:2])) >= (2, 1)"""
    from torch import nn

    # /// script
    # dependencies = ["torch>=2.0"]
    # ///
    from torch.utils.flop_counter import flop_registry  # error: [TLN907]

    print(flop_registry)


def a_device_that_only_an_extension_brought():
    from torch import nn

    # /// script
    # dependencies = ["torch>=2.1"]
    # ///
    def count(x):
        if x.device.type == "cuda":
            return torch.cuda.get_device_properties(x.device).multi_processor_count
        elif x.device.type == "xpu":
            return torch.xpu.get_device_properties(x.device).gpu_eu_count
        return 1

    print(count(torch.ones(2)))


def a_device_that_is_not_asked_for():
    """Holds: tuple(map(int, torch.__version__.split('.')[:2])) >= (2, 3)"""
    from torch import nn

    # /// script
    # dependencies = ["torch>=2.1"]
    # ///
    def count(x):
        if x.device.type == "cuda":
            return torch.cuda.get_device_properties(x.device).multi_processor_count
        return torch.xpu.device_count()  # warning: [TLN907]

    print(count(torch.ones(2, device="meta")))
