"""
Functions that notice how they are run: transforms, traces, modes, hooks, what is packed and recomputed. Each prints
what it computed, or what torch raised.
"""

import warnings
from typing import ClassVar

import torch
from torch import nn
from torch.func import functional_call, grad, hessian, jacfwd, jacrev, jvp, vjp, vmap
from torch.utils.checkpoint import checkpoint

warnings.simplefilter("ignore")


def show(function):
    torch.manual_seed(0)
    try:
        print(function.__name__, function())
    except Exception as error:
        print(function.__name__, type(error).__name__, str(error).splitlines()[0][:150])


@show
def jacobians():
    x = torch.arange(3.0)
    return jacrev(torch.sin)(x), jacfwd(torch.sin)(x), hessian(lambda v: (v**3).sum())(x)


@show
def gradients_per_sample():
    weights = torch.ones(4)
    return vmap(grad(lambda p, x: (p * x).sum().sin()), in_dims=(None, 0))(weights, torch.randn(6, 4))


@show
def products():
    value, pull = vjp(lambda v: v.exp().sum(), torch.ones(3))
    return value, pull(torch.ones(())), jvp(torch.tanh, (torch.ones(2),), (torch.ones(2),))


@show
def ensembles():
    models = [nn.Linear(2, 2) for _ in range(3)]
    params, buffers = torch.func.stack_module_state(models)
    base = nn.Linear(2, 2, device="meta")
    return vmap(lambda p, b, x: functional_call(base, (p, b), (x,)), (0, 0, None))(params, buffers, torch.ones(2))


@show
def backward_within_vmap():
    x = torch.randn(3, requires_grad=True)
    y = (x**2).sum(0, keepdim=True).expand(3)
    return torch.autograd.grad(y, x, torch.eye(3), is_grads_batched=True)


@show
def functional_jacobian():
    return torch.autograd.functional.jacobian(lambda v: v.exp(), torch.ones(2), vectorize=True)


@show
def forward_mode():
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(torch.ones(2), torch.ones(2))
        return torch.autograd.forward_ad.unpack_dual(dual.sin()).tangent


@show
def traced():
    def step(x):
        if x.shape[0] > 1:
            x = x.reshape(-1, 2)
        return (x.relu() @ torch.ones(2, 2)).sum(dim=-1)

    module = torch.jit.trace(step, torch.randn(4, 2))
    return str(module.inlined_graph).count("aten::"), module(torch.ones(6, 2))


@show
def traced_module():
    module = torch.jit.trace(nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4)).eval(), torch.randn(2, 4))
    return module(torch.ones(1, 4))


@show
def scripted():
    return torch.jit.script(nn.Linear(2, 2))(torch.ones(2))


@show
def made_graph():
    from torch.fx.experimental.proxy_tensor import make_fx

    def both(x):
        y = x.clone().requires_grad_()
        (g,) = torch.autograd.grad((y.sin() * y).sum(), y)
        return g + x.shape[0]

    made = make_fx(both)(torch.randn(3))
    return [str(node.target) for node in made.graph.nodes], made(torch.ones(3))


@show
def symbolically():
    return [node.op for node in torch.fx.symbolic_trace(nn.Sequential(nn.Linear(2, 2), nn.ReLU())).graph.nodes]


@show
def fakes():
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        layer = nn.Linear(3, 3)
        loss = layer(torch.randn(2, 3)).sum()
        loss.backward()
        return layer.weight.grad.shape


@show
def counted():
    from torch.utils.flop_counter import FlopCounterMode

    layer = nn.Linear(4, 4)
    with FlopCounterMode(display=False) as counter:
        layer(torch.randn(2, 4)).sum().backward()
    return counter.get_total_flops()


@show
def dispatched():
    from torch.utils._python_dispatch import TorchDispatchMode

    class Log(TorchDispatchMode):
        seen: ClassVar = []

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            self.seen.append(str(func))
            return func(*args, **(kwargs or {}))

    x = torch.ones(2, requires_grad=True)
    with Log() as log:
        (x * 2).exp().sum().backward()
        x.detach().numpy()
    return log.seen


@show
def overridden():
    from torch.overrides import TorchFunctionMode

    class Log(TorchFunctionMode):
        seen: ClassVar = []

        def __torch_function__(self, func, types, args=(), kwargs=None):
            self.seen.append(getattr(func, "__name__", ""))
            return func(*args, **(kwargs or {}))

    x = torch.ones(2, requires_grad=True)
    with Log() as log:
        (x * 2).exp().sum().backward()
    return log.seen


@show
def recomputed():
    calls = []

    def block(x):
        calls.append(1)
        return torch.log(x).tanh()

    x = torch.tensor([-1.0, 1.0], requires_grad=True)
    checkpoint(block, x, use_reentrant=False).sum().backward()
    return len(calls), x.grad


@show
def recomputed_in_the_engine():
    calls = []

    def block(x):
        calls.append(1)
        return torch.log(x).tanh()

    x = torch.tensor([-1.0, 1.0], requires_grad=True)
    checkpoint(block, x, use_reentrant=True).sum().backward()
    return len(calls), x.grad


@show
def packed():
    seen = []

    def unpack(x):
        seen.append("unpack")
        return x

    x = torch.tensor([-1.0], requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: (seen.append("pack"), t)[1], unpack):
        loss = (x.sqrt() * 2).exp().sum()
    loss.backward()
    return seen


@show
def hooked():
    seen = []
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: seen.append(("tensor", g.sum().item())))
    y.grad_fn.register_hook(lambda i, o: seen.append(("node", len(i))))
    y.grad_fn.register_prehook(lambda o: seen.append(("before", len(o))))
    x.register_post_accumulate_grad_hook(lambda t: seen.append(("accumulated", t.grad.sum().item())))
    y.sum().backward()
    return seen


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 2 + x * 0


@show
def custom():
    x = torch.ones(2, requires_grad=True, dtype=torch.double)
    return Double.apply(x), torch.autograd.gradcheck(Double.apply, x), Double.apply(x).grad_fn.name()


class Named(torch.Tensor):
    pass


@show
def subclassed():
    x = torch.ones(2).as_subclass(Named).requires_grad_()
    y = (x * 2).sum()
    y.backward()
    return type(y).__name__, type(x.grad).__name__


@show
def inferred():
    with torch.inference_mode():
        x = torch.ones(2)
        x += 1
    return x.is_inference(), x


@show
def sparse():
    x = torch.eye(3).to_sparse().requires_grad_()
    torch.sparse.mm(x, torch.ones(3, 1)).sum().backward()
    embedding = nn.Embedding(4, 2, sparse=True)
    embedding(torch.tensor([1])).sum().backward()
    return x.grad.to_dense(), embedding.weight.grad.is_sparse


@show
def nested():
    x = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
    return (x * 2).to_padded_tensor(0.0)


@show
def compiled():
    return torch.compile(lambda x: x.sin() + 1, backend="eager")(torch.ones(2))


@show
def exported():
    program = torch.export.export(nn.Linear(2, 2), (torch.ones(1, 2),), strict=False)
    return [node.op for node in program.graph.nodes]


@show
def quantised():
    return torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8).dequantize()


@show
def threads():
    import threading

    found = []

    def work():
        x = torch.ones(2, requires_grad=True)
        (x * 2).sum().backward()
        found.append(x.grad.tolist())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return found


@show
def loaded():
    from torch.utils.data import DataLoader, TensorDataset

    loader = DataLoader(TensorDataset(torch.arange(4.0)), batch_size=2, num_workers=1)
    return [batch[0].tolist() for batch in loader]


@show
def remembered():
    import gc
    import weakref

    x = torch.ones(2, requires_grad=True)
    y = x * 2
    gone = weakref.ref(y)
    y.sum().backward()
    del y
    gc.collect()
    return gone() is None


@show
def random():
    nn.Dropout()(torch.ones(5, requires_grad=True)).sum().backward()
    return torch.rand(2)


@show
def anomaly():
    x = torch.tensor([0.0], requires_grad=True)
    with torch.autograd.detect_anomaly():
        (x.sqrt() * 0).sum().backward()


@show
def raised():
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    y += 1
    y.sum().backward()


@show
def annotated():
    import inspect

    return inspect.signature(torch.autograd.backward).parameters.keys(), torch.autograd.grad.__module__


@show
def saved_and_loaded():
    import io

    file = io.BytesIO()
    torch.save({"w": nn.Linear(1, 1).state_dict()}, file)
    file.seek(0)
    return torch.load(file)


@show
def modules_with_hooks():
    layer = nn.Linear(2, 2)
    seen = []
    layer.register_forward_pre_hook(lambda m, i: seen.append("pre"))
    layer.register_full_backward_hook(lambda m, i, o: seen.append("backward"))
    layer(torch.ones(1, 2)).sum().backward()
    return seen


@show
def parametrized():
    layer = nn.utils.parametrizations.weight_norm(nn.Linear(2, 2))
    layer(torch.ones(1, 2)).sum().backward()
    return sorted(name for name, _ in layer.named_parameters())


@show
def amp():
    layer = nn.Linear(2, 2)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = layer(torch.ones(1, 2))
    y.float().sum().backward()
    return y.dtype, layer.weight.grad.dtype


@show
def lbfgs():
    x = torch.tensor([3.0], requires_grad=True)
    optimizer = torch.optim.LBFGS([x], max_iter=5)

    def closure():
        optimizer.zero_grad()
        loss = (x**2).sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    return x
