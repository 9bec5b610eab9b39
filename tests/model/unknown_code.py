# ruff: noqa
"""
Programs with code that the model does not follow (`somelib` stands for it), or with Python's own indirections.

What a function's body is expected to give stands in its markers (see `tests/expectations.py`); one with an error raises
under torch, any other runs to its end.
"""


def silent_apply_def():
    import torch
    from torch import nn

    def off(m):
        if isinstance(m, nn.Linear):
            m.requires_grad_(False)

    net = nn.Sequential(nn.Linear(4, 4), nn.Tanh())
    net.apply(off)
    print(net(torch.rand(2, 4)).numpy())


def silent_ctx_args():
    import contextlib
    import torch
    from torch import nn

    @contextlib.contextmanager
    def mode(on):
        before = torch.is_grad_enabled()
        torch.set_grad_enabled(on)
        try:
            yield before
        finally:
            torch.set_grad_enabled(before)

    w = torch.rand(3, requires_grad=True)
    with mode(False) as b:
        w.add_(1)
    with torch.no_grad():
        with mode(True):
            (w * 2).sum().backward()


def silent_ctx_branch():
    import contextlib
    import torch

    @contextlib.contextmanager
    def maybe(on):
        if on:
            with torch.no_grad():
                yield
        else:
            yield

    w = torch.rand(3, requires_grad=True)
    with maybe(True):
        w.add_(1)


def silent_ctx_class_attr():
    import torch

    class Quiet:
        def __enter__(self):
            self.guard = torch.no_grad()
            self.guard.__enter__()
            return self

        def __exit__(self, *e):
            return self.guard.__exit__(*e)

    w = torch.rand(3, requires_grad=True)
    with Quiet():
        w.add_(1)


def silent_ctx_pick():
    import contextlib
    import torch

    def pick(train):
        return contextlib.nullcontext() if train else torch.no_grad()

    w = torch.rand(3, requires_grad=True)
    with pick(False):
        w.add_(1)


def silent_ctx_return():
    import contextlib
    import torch
    from torch import nn

    @contextlib.contextmanager
    def quiet(net):
        net.eval()
        with torch.no_grad():
            yield net
        net.train()

    def sample(net):
        with quiet(net) as n:
            return n(torch.rand(1, 3))

    net = nn.Linear(3, 2)
    print(sample(net).numpy())
    net(torch.rand(1, 3)).sum().backward()


def silent_detach_list():
    import torch
    from somelib import trim

    w = torch.rand(3, requires_grad=True)
    hs = [torch.zeros(3)]
    for _ in range(3):
        h = torch.tanh(w * hs[-1] + w)
        h.sum().backward()
        hs.append(h)
        trim(hs)


def silent_except_tuple():
    import torch

    w = torch.rand(3, requires_grad=True)
    try:
        a = w.numpy()
    except (ValueError, Exception):
        a = w.detach().numpy()


def silent_freeze_method():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = nn.Linear(4, 4)

        def freeze(self):
            for p in self.parameters():
                p.requires_grad = False

    net = Net()
    net.freeze()
    print(net.head(torch.rand(2, 4)).numpy())


def silent_freeze_partial():
    import torch
    from torch import nn

    net = nn.Sequential(nn.Linear(4, 4), nn.Sequential(nn.Linear(4, 4), nn.Tanh()))
    for m in net.modules():
        for p in m.parameters(recurse=False):
            p.requires_grad_(False)
    print(net(torch.rand(2, 4)).numpy())


def silent_freeze_unknown_children():
    import torch
    from torch import nn
    from somelib import Block

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.block = Block(4)
            self.head = nn.Linear(4, 4)
            for m in self.modules():
                if isinstance(m, nn.Linear):
                    m.weight.requires_grad = False
                    m.bias.requires_grad = False

    net = Net()
    print(net.head(torch.rand(2, 4)).numpy())


def silent_getparam():
    import torch
    from torch import nn

    net = nn.Sequential(nn.Linear(4, 4))
    for k in ("0.weight", "0.bias"):
        net.get_parameter(k).requires_grad_(False)
    print(net(torch.rand(2, 4)).numpy())


def silent_getsub():
    import torch
    from torch import nn

    net = nn.Sequential(nn.Linear(4, 4))
    net.get_submodule("0").requires_grad_(False)
    print(net(torch.rand(2, 4)).numpy())


def silent_lib_method():
    import torch
    from torch import nn
    from somelib import Freezer

    net = nn.Linear(4, 4)
    Freezer(net).run()
    print(net(torch.rand(2, 4)).numpy())


def silent_lib_params():
    import torch
    from torch import nn
    from somelib import set_requires_grad

    net = nn.Linear(4, 4)
    set_requires_grad(net.parameters(), False)
    print(net(torch.rand(2, 4)).numpy())


def silent_lib_returned():
    import torch
    from torch import nn
    from somelib import prepare

    net = nn.Linear(4, 4)
    ok = prepare(net)
    print(net(torch.rand(2, 4)).numpy())


def silent_list_map():
    import torch
    from torch import nn

    net = nn.Linear(4, 4)
    list(map(lambda p: p.requires_grad_(False), net.parameters()))
    print(net(torch.rand(2, 4)).numpy())


def silent_self_elsewhere():
    import torch
    from torch import nn
    from somelib import Base

    class Net(Base):
        def __init__(self):
            super().__init__()
            self.head = nn.Linear(4, 4)
            self.freeze()

        def show(self, x):
            return self.head(x).numpy()

    Net().show(torch.rand(2, 4))


def silent_setattr_flag():
    import torch
    from torch import nn

    net = nn.Linear(4, 4)
    for p in net.parameters():
        setattr(p, "requires_grad", False)
    print(net(torch.rand(2, 4)).numpy())


def silent_setgrad_func():
    import torch

    def off():
        torch.set_grad_enabled(False)

    w = torch.rand(3, requires_grad=True)
    off()
    w.add_(1)
    torch.set_grad_enabled(True)


def silent_suppress():
    import contextlib
    import torch

    w = torch.rand(3, requires_grad=True)
    with contextlib.suppress(Exception):
        a = w.numpy()


def silent_underparams():
    import torch
    from torch import nn

    net = nn.Linear(4, 4)
    for p in net._parameters.values():
        p.requires_grad = False
    print(net(torch.rand(2, 4)).numpy())


def silent_wrapped_in_def():
    import torch
    from torch import nn
    import somelib

    def f(m):
        somelib.quantize_(m)

    net = nn.Linear(4, 4)
    f(net)
    print(net(torch.rand(2, 4)).numpy())


def found_ctx_ended():
    import contextlib
    import torch

    @contextlib.contextmanager
    def quiet():
        with torch.no_grad():
            yield

    w = torch.rand(3, requires_grad=True)
    with quiet():
        w.add_(1)
    w.add_(1)  # error: [TLN203]


def found_ctx_no_grad_backward():
    import contextlib
    import torch

    @contextlib.contextmanager
    def quiet():
        with torch.no_grad():
            yield

    w = torch.rand(3, requires_grad=True)
    with quiet():
        loss = (w * 2).sum()
    loss.backward()  # error: [TLN104]


def found_ctx_plain():
    import contextlib
    import time
    import torch

    @contextlib.contextmanager
    def timed(name):
        t = time.time()
        yield
        print(name, time.time() - t)

    w = torch.rand(3, requires_grad=True)
    with timed("x"):
        w.add_(1)  # error: [TLN203]


def found_except_reraise():
    import torch

    w = torch.rand(3, requires_grad=True)
    loss = (w**2).sum()
    try:
        loss.backward()
        loss.backward()  # error: [TLN101]
    except Exception as e:
        print(e)
        raise


def found_foreign_layer():
    import torch
    from somelib import Net, loss_fn

    net = Net()
    x = torch.rand(3, requires_grad=True)
    y = x.exp()
    loss = loss_fn(net(y), y)  # warning: [TLN408]
    y.mul_(2)  # warning: [TLN201]
    y.sum().backward()


def found_log():
    import torch, logging
    from torch import nn
    from somelib import AverageMeter, Logger

    net = nn.Linear(2, 2)
    meter, log = AverageMeter(), Logger()
    loss = net(torch.rand(1, 2)).exp().sum()
    meter.update(loss)
    log.add_scalar("loss", loss)
    print(loss, net)
    logging.info(loss)
    len(list(net.parameters()))
    loss.backward()
    loss.backward()  # error: [TLN101]


def found_modules_init():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.lin = nn.Linear(4, 4)
            self.apply(self._init)
            for m in self.modules():
                if isinstance(m, nn.Linear):
                    nn.init.zeros_(m.bias)
                    m.weight.data.normal_()

        def _init(self, m):
            if isinstance(m, nn.Linear):
                nn.init.normal_(m.weight)

    net = Net()
    print(net.lin(torch.rand(2, 4)).numpy())  # error: [TLN111]


def found_optimizer_elsewhere():
    import torch
    from torch import nn
    from somelib import Lion, clip_gradients

    net = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
    opt = Lion(net.parameters(), lr=0.1)
    h = torch.zeros(1, 2)
    for _ in range(3):
        h = net(h)
        opt.zero_grad()
        h.sum().backward()  # error: [TLN101]
        clip_gradients(net.parameters(), 1.0)
        opt.step()


def found_refrozen():
    import torch
    from torch import nn
    from somelib import freeze

    net = nn.Linear(4, 4)
    freeze(net)
    net.requires_grad_(True)
    print(net(torch.rand(2, 4)).numpy())  # error: [TLN111]


def found_train_loop():
    import torch
    from torch import nn
    from somelib import evaluate

    net = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    h = torch.zeros(1, 2)
    for _ in range(3):
        h = net(h)
        opt.zero_grad()
        h.sum().backward()  # error: [TLN101]
        opt.step()
        evaluate(net)
        torch.save(net.state_dict(), "x.pt")


def silent_base_positional():
    import torch
    from torch.distributions import Normal

    class N(Normal):
        def show(self):
            return self.loc.detach().numpy()

        def loss(self):
            return self.rsample().sum()

    loc = torch.zeros(3, requires_grad=True)
    n = N(loc, torch.ones(3))
    n.loss().backward()
    print(loc.grad.norm())
    loc.grad.clone()


def silent_cached():
    import functools
    import torch

    class A:
        @functools.cached_property
        def w(self):
            return torch.rand(3)

    a = A()
    a.w.requires_grad_()
    (a.w**2).sum().backward()


def silent_class_forward():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.l = nn.Linear(3, 2)

        def forward(self, x):
            return self.l(x)

    Net.forward = lambda self, x: self.l(x).detach()
    print(Net()(torch.rand(1, 3)).numpy())


def silent_dataclass_default():
    import dataclasses
    import torch

    @dataclasses.dataclass
    class Base:
        x: torch.Tensor

    @dataclasses.dataclass
    class Out(Base):
        y: torch.Tensor

        def __post_init__(self):
            self.y = self.y.detach()

    w = torch.rand(3, requires_grad=True)
    o = Out(torch.rand(3), w * 2)
    print(o.y.numpy(), o.x.numpy())


def silent_dict_update():
    import torch

    class Net:
        def __init__(self, **kw):
            self.w = torch.rand(3)
            self.__dict__.update(kw)

    n = Net(w=torch.rand(3, requires_grad=True))
    (n.w**2).sum().backward()


def silent_eval():
    import torch

    w = torch.rand(3, requires_grad=True)
    y = eval("w * 2")
    y.sum().backward()
    w.grad.clone()


def silent_exec():
    import torch

    w = torch.rand(3, requires_grad=True)
    exec("w = w.detach()")
    print(w.numpy())


def silent_foreach():
    import torch

    x = torch.ones(2, requires_grad=True)
    (x * 2).sum().backward()
    first = x.grad.clone()
    torch._foreach_zero_([x.grad])
    (x * 3).sum().backward()
    second = x.grad.clone()
    print(first, second)


def silent_getattr():
    import torch

    class Wrap:
        def __init__(self, t):
            self.t = t

        def __getattr__(self, name):
            return getattr(self.__dict__["t"], name)

    x = torch.rand(3, requires_grad=True)
    Wrap(x).exp().sum().backward()
    x.grad.zero_()


def silent_globals():
    import torch

    w = torch.rand(3, requires_grad=True)
    globals()["w"] = w.detach()
    print(w.numpy())


def silent_grad_and():
    import torch
    from torch import nn

    def zero(net):
        for p in net.parameters():
            if p.requires_grad and p.grad is not None and p.grad.numel():
                p.grad.zero_()

    net = nn.Linear(2, 2)
    zero(net)
    net(torch.rand(1, 2)).sum().backward()
    zero(net)


def silent_grad_guard():
    import torch

    def run(xs):
        ts = [x.clone() for x in xs]
        for t in ts:
            x = t.requires_grad_()
            for _ in range(2):
                if x.grad is not None:
                    x.grad.zero_()  # smell: [TLN401]
                (x * 2).sum().backward()
                if x.grad is None:
                    continue
                print(x.grad.norm())

    run(torch.rand(3, 2))


def silent_grad_hook():
    import torch

    grads = []
    w = torch.rand(3, requires_grad=True)
    y = w * 2
    y.register_hook(lambda g: grads.append(g))
    y.sum().backward(create_graph=True)  # strict: [TLN108]
    grads[0].sum()
    print(len(grads))


def silent_hook_def():
    import torch
    from torch import nn

    def cut(module, inputs, output):
        return output.detach()

    net = nn.Sequential(nn.Linear(3, 2))
    net[0].register_forward_hook(cut)
    print(net(torch.rand(1, 3)).numpy())


def silent_hook_dict_global():
    import torch
    from torch import nn

    feats = {"x": torch.zeros(1)}

    def get(name):
        def hook(m, i, o):
            feats[name] = o

        return hook

    net = nn.Linear(3, 2)
    net.register_forward_hook(get("x"))
    net(torch.rand(1, 3))
    feats["x"].sum().backward()


def silent_hook_nonlocal():
    import torch
    from torch import nn

    net = nn.Linear(3, 2)

    def grab(x):
        kept = torch.zeros(1)

        def hook(m, i, o):
            nonlocal kept
            kept = o

        net.register_forward_hook(hook)
        net(x)
        kept.sum().backward()

    grab(torch.rand(1, 3))


def silent_hook_partial():
    import functools
    import torch
    from torch import nn

    net = nn.Linear(3, 2)
    store = {}

    def keep(d, name, m, i, o):
        d[name] = o

    net.register_forward_hook(functools.partial(keep, store, "a"))
    net(torch.rand(1, 3))
    sum(v.sum() for v in store.values()).backward()


def silent_kwargs_leaf():
    import torch

    def make(**kw):
        x = torch.rand(3, **kw).clone().requires_grad_(True)
        (x * 2).sum().backward()
        return x.grad.clone()

    make(dtype=torch.float64)


def silent_prop_setter2():
    import torch

    class State:
        def __init__(self):
            self.h = torch.zeros(3)

        @property
        def h(self):
            return self._h

        @h.setter
        def h(self, v):
            self._h = v.detach()

    w = torch.rand(3, requires_grad=True)
    s = State()
    for _ in range(3):
        s.h = torch.tanh(w * s.h + w)
        (torch.tanh(w * s.h)).sum().backward()


def silent_self_forward():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self, fast):
            super().__init__()
            self.l = nn.Linear(3, 2)
            if fast:
                self.forward = self.fast

        def forward(self, x):
            return self.l(x)

        def fast(self, x):
            return self.l(x).detach()

    print(Net(True)(torch.rand(1, 3)).numpy())


def silent_setattr_dict():
    import torch

    class Bag:
        def __setattr__(self, k, v):
            self.__dict__[k] = v.detach()

    w = torch.rand(3, requires_grad=True)
    bag = Bag()
    bag.h = torch.zeros(3)
    for _ in range(3):
        out = torch.tanh(w * bag.h + w)
        out.sum().backward()
        bag.h = out


def silent_setattr_loop():
    import torch

    class Net:
        def __init__(self):
            self.a = torch.rand(3)
            self.b = torch.rand(3)
            for name in ("a", "b"):
                setattr(self, name, getattr(self, name).requires_grad_())

    n = Net()
    (n.a**2).sum().backward()


def silent_setattr_unknown_name():
    import sys
    import torch

    class Net:
        def __init__(self, names):
            self.a = torch.rand(3)
            for name in names:
                setattr(self, name, torch.rand(3, requires_grad=True))

    n = Net(sys.argv[:0] + ["a"])
    (n.a**2).sum().backward()


def silent_spectral():
    import torch
    from torch import nn
    from torch.nn.utils import spectral_norm, weight_norm  # warning: [TLN902]

    l = weight_norm(nn.Linear(2, 2))
    w = l.weight
    w.add_(1)
    m = spectral_norm(nn.Linear(2, 2))
    m.weight.mul_(2)


def silent_var():
    import torch
    from torch.autograd import Variable

    x = Variable(torch.from_numpy(__import__("numpy").ones(3, dtype="float32")), requires_grad=True)
    x.backward(torch.ones(3))


def silent_vars_update():
    import torch
    from somelib import load

    class Net:
        def __init__(self):
            self.w = torch.rand(3)
            vars(self).update(load())

    n = Net()
    (n.w**2).sum().backward()


def silent_zero_between():
    import torch

    x = torch.ones(2, requires_grad=True)
    y = x.sum()
    y.backward()
    x.grad.zero_()  # smell: [TLN401]
    y.backward()


def found_allow_unused():
    import torch

    w, v = torch.rand(3, requires_grad=True), torch.rand(3, requires_grad=True)
    h = torch.tanh(w * v)
    loss = h.sum()
    g = torch.autograd.grad(loss, v, allow_unused=True)
    loss.backward()  # error: [TLN101]


def found_dataclass():
    import dataclasses
    import torch

    @dataclasses.dataclass
    class Out:
        y: torch.Tensor
        n: int = 0

        def __post_init__(self):
            self.n = self.n + 1

    w = torch.rand(3, requires_grad=True)
    o = Out(w * 2)
    print(o.y.numpy())  # error: [TLN111]


def found_grad_none():
    import torch

    x = torch.rand(3, requires_grad=True)
    x.grad.zero_()  # error: [TLN401]
    (x * 2).sum().backward()


def found_hook_records():
    import torch
    from torch import nn

    feats = []
    net = nn.Sequential(nn.Linear(3, 2))
    net[0].register_forward_hook(lambda m, i, o: feats.append(o))
    print(net(torch.rand(1, 3)).numpy())  # error: [TLN111]


def found_prop_setter():
    import torch

    class State:
        def __init__(self):
            self.h = torch.zeros(3)

        @property
        def h(self):
            return self._h

        @h.setter
        def h(self, v):
            self._h = v

    w = torch.rand(3, requires_grad=True)
    s = State()
    for _ in range(3):
        s.h = torch.tanh(w * s.h + w)
        s.h.sum().backward()  # error: [TLN101]


def found_setattr_super():
    import torch

    class Bag:
        def __setattr__(self, k, v):
            super().__setattr__(k, v)

    w = torch.rand(3, requires_grad=True)
    bag = Bag()
    bag.h = torch.zeros(3)
    for _ in range(3):
        out = torch.tanh(w * bag.h + w)
        out.sum().backward()  # error: [TLN101]
        bag.h = out


def found_star_leaf():
    import torch

    def g(shape):
        w = torch.rand(*shape, requires_grad=True)
        y = w.clone().requires_grad_(True)
        (y * 2).sum().backward()
        return y.grad  # warning: [TLN109]

    g([3])


def found_twice():
    import torch

    x = torch.ones(2, requires_grad=True)
    y = x.sum()
    y.backward()
    y.backward()  # warning: [TLN101]


def silent_call_over():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.l = nn.Linear(3, 2)

        def __call__(self, x):
            return super().__call__(x).detach()

        def forward(self, x):
            return self.l(x)

    print(Net()(torch.rand(1, 3)).numpy())


def silent_callback():
    import torch
    from somelib import run

    kept = []
    w = torch.rand(3, requires_grad=True)
    run(lambda: kept.append(w * 2))
    torch.cat(kept).sum().backward()


def silent_callback_flag():
    import torch
    from torch import nn
    from somelib import run

    net = nn.Linear(3, 2)

    def off():
        net.requires_grad_(False)

    run(off)
    print(net(torch.rand(1, 3)).numpy())


def silent_checkpoint():
    import torch
    from torch.utils.checkpoint import checkpoint

    seen = []
    w = torch.rand(3, requires_grad=True)

    def f(x):
        y = torch.tanh(x * w)
        seen.append(y)
        return y

    out = checkpoint(f, torch.rand(3), use_reentrant=False)
    torch.stack(seen).sum().backward()


def silent_ctx_elsewhere():
    import torch
    from somelib import session

    w = torch.rand(3, requires_grad=True)
    with session() as s:
        w.add_(1)


def silent_deco_file():
    import functools
    import torch

    def quiet(f):
        @functools.wraps(f)
        def inner(*a, **k):
            with torch.no_grad():
                return f(*a, **k)

        return inner

    w = torch.rand(3, requires_grad=True)

    @quiet
    def update():
        w.add_(1)

    @quiet
    def sample(x):
        return w * x

    update()
    print(sample(torch.rand(3)).numpy())


def silent_deco_forward():
    import torch
    from torch import nn
    from somelib import inference

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.l = nn.Linear(3, 2)

        @inference
        def forward(self, x):
            return self.l(x)

    print(Net()(torch.rand(1, 3)).numpy())


def silent_desc():
    import torch

    class Cut:
        def __set_name__(self, owner, name):
            self.name = "_" + name

        def __get__(self, obj, owner):
            return getattr(obj, self.name).detach()

        def __set__(self, obj, value):
            setattr(obj, self.name, value)

    class A:
        h = Cut()

    a = A()
    w = torch.rand(3, requires_grad=True)
    a.h = w * 2
    print(a.h.numpy())


def silent_exitstack_self():
    import contextlib
    import torch

    class T:
        def __init__(self):
            self.stack = contextlib.ExitStack()

        def start(self):
            self.stack.enter_context(torch.no_grad())

    w = torch.rand(3, requires_grad=True)
    t = T()
    t.start()
    w.add_(1)
    t.stack.close()


def silent_hook_clear():
    import torch
    from torch import nn

    feats = []
    net = nn.Linear(3, 2)
    net.register_forward_hook(lambda m, i, o: feats.append(o))
    for _ in range(2):
        feats.clear()
        net(torch.rand(1, 3))
        torch.cat(feats).sum().backward()


def silent_hook_method():
    import torch
    from torch import nn

    class Cam:
        def __init__(self, net):
            self.acts = None
            self.seen = []
            net[0].register_forward_hook(self.save)
            self.net = net

        def save(self, m, i, o):
            self.acts = o
            self.seen.append(o)

        def run(self, x):
            self.net(x)
            self.acts.sum().backward()

        def stacked(self, x):
            self.seen.clear()
            self.net(x)
            torch.stack(self.seen).sum().backward()

    net = nn.Sequential(nn.Linear(3, 2))
    c = Cam(net)
    c.run(torch.rand(1, 3))
    c.stacked(torch.rand(1, 3))


def silent_namedtuple():
    import collections
    import torch

    Out = collections.namedtuple("Out", "a b")
    w = torch.rand(3, requires_grad=True)
    o = Out(w * 2, torch.rand(3))
    print(o.b.numpy(), o.a.detach().numpy())
    o.a.sum().backward()
    print(w.grad.clone())


def silent_new():
    import torch

    class Leaf:
        def __new__(cls, t):
            return t.detach()

    w = torch.rand(3, requires_grad=True)
    print(Leaf(w * 2).numpy())


def silent_thread():
    import threading
    import torch

    box = {"x": torch.zeros(3)}
    w = torch.rand(3, requires_grad=True)

    def work():
        box["x"] = w * 2

    t = threading.Thread(target=work)
    t.start()
    t.join()
    box["x"].sum().backward()


def found_callee_call():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.l = nn.Linear(3, 2)

        def __call__(self, x):
            return self.l(x)

    print(Net()(torch.rand(1, 3)).numpy())  # error: [TLN111]


def found_ctx_class():
    import time
    import torch

    class Timer:
        def __enter__(self):
            self.t = time.time()
            return self

        def __exit__(self, *e):
            print(time.time() - self.t)

    w = torch.rand(3, requires_grad=True)
    with Timer():
        w.add_(1)  # error: [TLN203]


def found_ctx_lock():
    import threading
    import torch

    w = torch.rand(3, requires_grad=True)
    lock = threading.Lock()
    with lock:
        w.add_(1)  # error: [TLN203]


def found_filter():
    import torch
    from torch import nn

    net = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
    opt = torch.optim.SGD(filter(lambda p: p.requires_grad, net.parameters()), lr=0.1)
    h = torch.zeros(1, 2)
    for _ in range(3):
        h = net(h)
        opt.zero_grad()
        h.sum().backward()  # error: [TLN101]
        opt.step()


def found_load():
    import torch
    from torch import nn
    from somelib import load_checkpoint, EarlyStopping, adjust_lr, summary

    net = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
    load_checkpoint(net, "x.pt")
    summary(net, (1, 2))
    stopping = EarlyStopping()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    h = torch.zeros(1, 2)
    for i in range(3):
        h = net(h)
        opt.zero_grad()
        loss = h.sum()
        loss.backward()  # error: [TLN101]
        opt.step()
        adjust_lr(opt, i)
        for g in opt.param_groups:
            g["lr"] = adjust_lr(g["lr"], i)
        stopping.step(loss, net)


def found_pbar():
    import torch
    from torch import nn
    from somelib import tqdm

    net = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    h = torch.zeros(1, 2)
    bar = tqdm(range(3))
    for _ in bar:
        h = net(h)
        opt.zero_grad()
        loss = h.sum()
        loss.backward()  # error: [TLN101]
        opt.step()
        bar.set_postfix(loss=loss, h=h)


def silent_add_module():
    import torch
    from torch import nn

    class Id(nn.Module):
        def forward(self, x):
            return x.detach()

    net = nn.Sequential(nn.Linear(3, 3))
    net.add_module("1", Id())
    print(net(torch.rand(1, 3)).numpy())


def silent_children_index():
    import torch
    from torch import nn

    net = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 3))
    for c in list(net.children())[:1]:
        for p in c.parameters():
            p.requires_grad_(False)
    print(net[:1](torch.rand(1, 3)).numpy())


def silent_ctx_decorator():
    import contextlib
    import torch

    class Quiet(contextlib.ContextDecorator):
        def __enter__(self):
            self.g = torch.no_grad()
            self.g.__enter__()

        def __exit__(self, *e):
            self.g.__exit__(*e)

    w = torch.rand(3, requires_grad=True)

    @Quiet()
    def up():
        w.add_(1)

    up()
    with Quiet():
        w.add_(1)


def silent_ctx_enable():
    import contextlib
    import torch

    @contextlib.contextmanager
    def recorded():
        with torch.enable_grad():
            yield

    w = torch.rand(3, requires_grad=True)

    @torch.no_grad()
    def step():
        with recorded():
            loss = (w * 2).sum()
        loss.backward()

    step()


def silent_ctx_return_inside():
    import contextlib
    import torch
    from torch import nn

    @contextlib.contextmanager
    def quiet():
        with torch.no_grad():
            yield

    def sample(net, x, early):
        with quiet():
            y = net(x)
            if early:
                return y
        return y.detach()

    net = nn.Linear(3, 3)
    import sys

    print(sample(net, torch.rand(1, 3), len(sys.argv) > 1).numpy())
    net(torch.rand(1, 3)).sum().backward()


def silent_ctx_try():
    import contextlib
    import torch

    @contextlib.contextmanager
    def quiet(flag=True):
        prev = torch.is_grad_enabled()
        torch.set_grad_enabled(not flag)
        try:
            yield
        finally:
            torch.set_grad_enabled(prev)

    class T:
        @contextlib.contextmanager
        def ema(self):
            with quiet():
                yield self

        def run(self, w):
            with self.ema() as me, torch.autocast("cpu", enabled=False):
                w.add_(1)

    w = torch.rand(3, requires_grad=True)
    T().run(w)
    with quiet(False):
        (w * 2).sum().backward()


def silent_del_param():
    import torch
    from torch import nn

    net = nn.Linear(3, 3, bias=False)
    w = net.weight.detach()
    del net.weight
    net.weight = w
    print(net(torch.rand(1, 3)).numpy())


def silent_getattr_chain():
    import operator
    import torch
    from torch import nn

    net = nn.Sequential(nn.Linear(3, 3))
    operator.attrgetter("0.weight")(net).requires_grad_(False)
    net[0].bias.requires_grad_(False)
    print(net(torch.rand(1, 3)).numpy())


def silent_grad_buffer():
    import torch
    from somelib import train

    w = torch.rand(3, requires_grad=True)
    train(w)
    w.grad.zero_()


def silent_grad_closure():
    import torch
    from somelib import minimise

    w = torch.rand(3, requires_grad=True)

    def closure():
        loss = (w**2).sum()
        loss.backward()
        return loss

    minimise(closure)
    w.grad.zero_()


def silent_load_state():
    import torch
    from torch import nn

    net = nn.Linear(3, 3)
    net.weight = nn.Parameter(torch.rand(3, 3), requires_grad=False)
    net.bias = None
    print(net(torch.rand(1, 3)).numpy())


def silent_many_depends():
    import torch
    from somelib import combine

    ws = [torch.rand(3, requires_grad=True) for _ in range(20)]
    combine(*ws).sum().backward()
    for w in ws:
        w.grad.zero_()


def silent_modulelist_unknown():
    import sys
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self, n):
            super().__init__()
            self.blocks = nn.ModuleList([nn.Linear(3, 3) for _ in range(n)])

        def forward(self, x):
            for b in self.blocks:
                x = b(x)
            return x

    net = Net(len(sys.argv) + 8)
    for m in net.modules():
        for p in m.parameters():
            p.requires_grad = False
    print(net(torch.rand(1, 3)).numpy())


def silent_modules_dict():
    import torch
    from torch import nn

    net = nn.Sequential(nn.Linear(3, 3))
    for name, m in net._modules.items():
        m.requires_grad_(False)
    print(net(torch.rand(1, 3)).numpy())


def silent_named_prefix():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.trunk = nn.Linear(3, 3)
            self.head = nn.Linear(3, 3)

        def forward(self, x):
            return self.trunk(x)

    net = Net()
    for n, p in net.named_parameters():
        if "trunk" in n:
            p.requires_grad = False
    print(net(torch.rand(1, 3)).numpy())


def silent_param_dict():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = nn.ModuleList([nn.Linear(3, 3) for _ in range(8)])

        def forward(self, x):
            for b in self.blocks:
                x = b(x)
            return x

    net = Net()
    by_name = {n: p for n, p in net.named_parameters()}
    for n in by_name:
        if n.startswith("blocks"):
            by_name[n].requires_grad = False
    print(net(torch.rand(1, 3)).numpy())


def silent_recursive():
    import torch
    from torch import nn

    def off(m):
        for c in m.children():
            off(c)
        for p in m.parameters(recurse=False):
            p.requires_grad = False

    net = nn.Sequential(nn.Sequential(nn.Sequential(nn.Linear(3, 3))))
    off(net)
    print(net(torch.rand(1, 3)).numpy())


def silent_replaced_child():
    import torch
    from torch import nn

    class Id(nn.Module):
        def forward(self, x):
            return x.detach()

    net = nn.Sequential(nn.Linear(3, 3))
    net[0] = Id()
    print(net(torch.rand(1, 3)).numpy())
    net2 = nn.Sequential(nn.Linear(3, 3))
    setattr(net2, "0", Id())
    print(net2(torch.rand(1, 3)).numpy())


def silent_self_modules():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.l = nn.Linear(3, 3)
            for p in self.__dict__["_modules"]["l"].parameters():
                p.requires_grad = False

        def forward(self, x):
            return self.l(x)

    print(Net()(torch.rand(1, 3)).numpy())


def silent_super_setattr_module():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __setattr__(self, name, value):
            if isinstance(value, torch.Tensor) and not isinstance(value, nn.Parameter):
                value = value.detach()
            super().__setattr__(name, value)

    net = Net()
    w = torch.rand(3, requires_grad=True)
    net.state = torch.zeros(3)
    for _ in range(3):
        out = torch.tanh(w * net.state + w)
        out.sum().backward()
        net.state = out


def silent_train_override():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.l = nn.Linear(3, 3)

        def train(self, mode=True):
            super().train(mode)
            for p in self.l.parameters():
                p.requires_grad = False
            return self

        def forward(self, x):
            return self.l(x)

    net = Net()
    net.train()
    print(net(torch.rand(1, 3)).numpy())


def found_children_index():
    import torch
    from torch import nn

    net = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 3))
    for c in list(net.children())[:1]:
        for p in c.parameters():
            p.requires_grad_(False)
    print(net(torch.rand(1, 3)).numpy())  # error: [TLN111]


def found_ctx_try():
    import contextlib
    import torch

    @contextlib.contextmanager
    def seeded(s):
        state = torch.get_rng_state()
        torch.manual_seed(s)
        try:
            yield
        finally:
            torch.set_rng_state(state)

    w = torch.rand(3, requires_grad=True)
    with seeded(3):
        y = w.exp()
        y.add_(1)  # error: [TLN201]
        y.sum().backward()


def found_ctx_yield_value():
    import contextlib
    import torch

    @contextlib.contextmanager
    def doubled(w):
        with torch.enable_grad():
            yield w * 2

    w = torch.rand(3, requires_grad=True)
    with doubled(w) as y:
        print(y.numpy())  # error: [TLN111]


def found_named_prefix():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.trunk = nn.Linear(3, 3)
            self.head = nn.Linear(3, 3)

        def forward(self, x):
            return self.head(self.trunk(x))

    net = Net()
    for n, p in net.named_parameters():
        if "trunk" in n:
            p.requires_grad = False
    print(net(torch.rand(1, 3)).numpy())  # error: [TLN111]


def silent_mode_set_by_name_inside_another_context():
    import io
    import torch
    from somelib import same

    w = torch.ones(3, requires_grad=True)
    torch.set_grad_enabled(False)
    with io.StringIO():
        getattr(torch, same("set_grad_enabled"))(True)
    (w * 2).sum().backward()


def silent_mode_set_inside_another_context():
    import io
    import torch
    from somelib import run

    w = torch.ones(3, requires_grad=True)
    torch.set_grad_enabled(False)
    with io.StringIO():
        run(lambda: torch.set_grad_enabled(True))
    (w * 2).sum().backward()


def silent_called_under_a_decorator_that_nobody_knows():
    import torch
    from somelib import same
    from torch import nn

    def shifted_loss(x):
        first, second = nn.Linear(2, 4)(x).chunk(2, dim=1)
        first += 1  # warning: [TLN209]
        return (first * second).sum()

    @same(torch.no_grad)()
    def evaluated(x):
        return shifted_loss(x).item()

    evaluated(torch.rand(3, 2))


def silent_arm_that_another_call_comes_to_without_grad():
    import torch
    from somelib import same

    class Gate(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.lin = torch.nn.Linear(2, 4)

        def forward(self, x):
            a, b = self.lin(x).chunk(2, 1)
            if torch.is_grad_enabled():
                if same(True):
                    return a.sigmoid() * b
            a.sigmoid_()  # warning: [TLN209]
            return a * b

    gate = Gate()
    gate(torch.ones(1, 2)).sum().backward()
    with torch.no_grad():
        gate(torch.ones(1, 2))


def silent_method_patched_of_what_was_given_away():
    import torch
    import unittest.mock
    from somelib import same

    class Model:
        def cut(self, x):
            return x.detach()

    w = torch.ones(2, requires_grad=True)
    with unittest.mock.patch.object(same(Model), "cut", lambda self, x: x):
        Model().cut(w * 2).sum().backward()


def silent_method_of_tensors_patched_under_a_name_that_nobody_knows():
    import torch
    import unittest.mock
    from somelib import same

    w = torch.ones(2, requires_grad=True)
    with unittest.mock.patch.object(torch.Tensor, same("detach"), lambda self: self):
        (w * 2).detach().sum().backward()


def silent_something_patched_that_nobody_knows():
    import torch
    import unittest.mock
    from somelib import same

    w = torch.ones(2, requires_grad=True)
    with unittest.mock.patch(*same(("torch.Tensor.detach", lambda self: self))):
        (w * 2).detach().sum().backward()


def found_method_patched_of_another_name():
    import torch
    import unittest.mock
    from somelib import same

    class Model:
        def cut(self, x):
            return x.detach()

    w = torch.ones(2, requires_grad=True)
    with unittest.mock.patch.object(same(Model), "cut", lambda self, x: x):
        pass
    (w * 2).detach().sum().backward()  # error: [TLN104]


def silent_surplus_gradient_that_may_be_none():
    import torch
    from somelib import same

    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            ctx.factor = factor
            return x * factor

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.factor, None, next(iter(same([None])))

    Scale.apply(torch.ones(2, requires_grad=True), 2.0).sum().backward()


def silent_layers_told_by_code_whose_result_is_dropped():
    import torch
    from torch import nn

    fix = eval("lambda net: [setattr(each, 'inplace', False) for each in net.modules()]")
    net = nn.Sequential(nn.Linear(3, 3), nn.Sigmoid(), nn.ReLU(inplace=True))
    1 * fix(net)
    net(torch.rand(1, 3)).sum().backward()


def silent_expanded_to_nothing():
    import torch
    from somelib import size

    tokens = torch.zeros(1, 1, 4).expand(2, size(), 4)
    tokens += torch.ones(2, 1, 4).mean(dim=1, keepdim=True)  # warning: [TLN208]


def silent_view_without_a_graph_in_unknown_hands():
    import torch
    from somelib import f

    v = torch.rand(4, requires_grad=True)
    a, b = v.tensor_split(2)
    with torch.no_grad():
        z = torch.squeeze(a)
        v.cos_()
    torch.ones(2) * f(z.detach())


def silent_switch_that_a_replaced_method_turns():
    import torch
    from somelib import same

    class Probe:
        def __init__(self):
            self.live = False

        def enable(self):
            self.live = True

        def slope(self):
            x = torch.rand(3, requires_grad=True)
            y = x if self.live else x.detach()
            y.sum().backward()

    Probe.enable = same(Probe.enable)
    probe = Probe()
    probe.enable()
    probe.slope()


def silent_switch_of_an_object_that_was_given_away():
    import torch
    from somelib import run

    class Probe:
        def __init__(self):
            self.live = False

        def slope(self):
            x = torch.rand(3, requires_grad=True)
            y = x if self.live else x.detach()
            y.sum().backward()

    def enable():
        probe.live = True

    probe = Probe()
    run(enable)
    probe.slope()


def silent_default_dtype_set_under_a_decorator_that_nobody_knows():
    import torch
    from somelib import wrap

    @wrap
    def prepare():
        torch.set_default_dtype(torch.float64)

    def optimizer():
        start = torch.zeros(3, requires_grad=True).double()
        return torch.optim.Adam([start], lr=0.1)

    prepare()
    optimizer()
    torch.set_default_dtype(torch.float32)


def silent_mode_set_under_a_decorator_that_nobody_knows():
    import torch
    from somelib import wrap

    @wrap
    def prepare():
        torch.set_grad_enabled(True)

    w = torch.ones(3, requires_grad=True)
    torch.set_grad_enabled(False)
    with open(__import__("os").devnull):
        prepare()
    (w * 2).sum().backward()


def silent_entered_by_a_name_that_nobody_knows():
    import torch
    from somelib import same, session

    w = torch.ones(3, requires_grad=True)
    for _ in range(2):
        entered = session()
        getattr(entered, same("__enter__"))()
        fake = w.tanh()
        entered.__exit__(None, None, None)
        loss = (fake * w).sum()
        loss.backward()
        again = -(fake * w).sum()
        again.backward()


def silent_view_made_where_grad_mode_is_unknown():
    import torch
    from somelib import session

    z = torch.rand(1, 3, requires_grad=True)
    for _ in range(2):
        loss = torch.nn.functional.mse_loss(z, z)
        loss.backward(inputs=[z])
        with session():
            z = z[:2]
    loss.backward()


def silent_leaf_or_what_nobody_knows_updated_under_no_grad():
    import torch
    from somelib import load

    w = load()["w"]
    for _ in range(2):
        (loss,) = torch.autograd.grad((w - 1).pow(2).sum(), w)
        with torch.no_grad():
            w -= 0.1 * loss


def silent_methods_of_a_function_set_later():
    import torch

    class Product(torch.autograd.Function):
        @staticmethod
        def forward(x, w):
            return x * w

        @staticmethod
        def backward(ctx, grad):
            x, w = ctx.saved_tensors
            return grad * w, grad * x

    def keep_inputs(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    Product.setup_context = staticmethod(keep_inputs)
    Product.apply(torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)).sum().backward()


def silent_attention_of_three_dimensions():
    import torch
    import torch.nn.functional as F
    from somelib import same

    q = torch.rand(1, 5, 8, requires_grad=True)
    y = F.scaled_dot_product_attention(q if same(True) else same(None), q, q)
    y += 1
    y.sum().backward()


def silent_switch_that_whoever_holds_the_object_turns():
    import torch

    class Probe:
        def __init__(self):
            self.live = False

        def slope(self):
            x = torch.rand(3, requires_grad=True)
            y = x if self.live else x.detach()
            y.sum().backward()

    def main():
        probe = Probe()
        probe.live = True
        probe.slope()

    main()


def silent_switch_that_a_method_from_elsewhere_turns():
    import torch
    from somelib import Switched

    class Probe(Switched):
        def __init__(self):
            self.live = False

        def slope(self):
            x = torch.rand(3, requires_grad=True)
            y = x if self.live else x.detach()
            y.sum().backward()

    probe = Probe()
    probe.switch_on()
    probe.slope()


def silent_switch_of_an_object_in_an_object_that_was_given_away():
    import torch
    from somelib import switch_on

    class Settings:
        live = False

    class Owner:
        def __init__(self):
            self.settings = Settings()

    owner = Owner()
    switch_on(owner.settings)
    w = torch.ones(3, requires_grad=True)
    y = w if owner.settings.live else w.detach()
    y.sum().backward()


def silent_function_under_an_unknown_decorator_that_patches():
    import torch
    from somelib import wrap

    class Net:
        def cut(self, x):
            return x.detach()

    @wrap
    def patch():
        Net.cut = lambda self, x: x

    patch()
    w = torch.ones(3, requires_grad=True)
    Net().cut(w * 2).sum().backward()


def found_size_of_an_object_that_was_given_away():
    import torch
    from somelib import wrap

    class Probe:
        def __init__(self):
            self.size = 3

        @wrap
        def rename(self):
            self.name = "probe"

        def slope(self):
            x = torch.rand(self.size, requires_grad=True)
            y = x.detach()
            y.sum().backward()  # error: [TLN104]

    probe = Probe()
    probe.rename()
    probe.slope()


def silent_arm_that_only_calls_without_grad_come_to():
    import torch
    from somelib import same
    from torch import nn

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(torch.ones(3))

        def forward(self, x):
            return x * self.scale

        def clip(self):
            self.scale.clamp_(0, 1)

        @torch.no_grad()
        def prepare(self):
            self.clip()

    layer = Layer()
    layer.prepare()
    with torch.inference_mode():
        layer.clip()
    if same(True):
        layer(torch.ones(2, 3)).sum().backward()


def silent_function_of_what_nobody_differentiates():
    import torch
    from somelib import same

    class Binarise(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, deterministic=False):
            return torch.sign(x) if deterministic else torch.sign(x + torch.randn_like(x))

        @staticmethod
        def backward(ctx, grad):
            return grad

    Binarise.apply(torch.rand(3, requires_grad=True)).sum().backward()
    Binarise.apply(torch.rand(3), next(iter(same([True]))))


def silent_setting_of_a_name_that_nobody_knows():
    import torch
    from somelib import same
    from torch import nn

    net = nn.Sequential(nn.Linear(3, 3), nn.Sigmoid(), nn.ReLU(inplace=True))
    for each in same(net.modules()):
        setattr(each, same("inplace"), False)
    net(torch.rand(1, 3)).sum().backward()


def silent_one_number_for_what_may_be_imported():
    import torch
    from somelib import flag, same, scalar

    y = torch.rand(4, requires_grad=True).exp() if flag else scalar
    torch.autograd.backward([y], [torch.tensor(1.0)])
    torch.autograd.backward(torch.rand(4).exp() if flag else scalar)


def one_number_for_a_vector_of_one_arm():
    import torch
    from somelib import flag, scalar

    y = scalar
    if not flag:
        y = torch.rand(4, requires_grad=True).exp()
        torch.autograd.backward([y], [torch.tensor(1.0)])  # error: [TLN118]


def silent_parameter_of_a_module_under_a_name_that_nobody_knows():
    import torch
    from somelib import same
    from torch import nn

    class Net(nn.Module):
        pass

    net = Net()
    weight = nn.Parameter(torch.ones(3))
    setattr(net, same("weight"), weight)
    net.double()
    converted = torch.zeros(3, requires_grad=True).type_as(weight)
    converted[0] = 1.0


def silent_parameter_that_is_registered():
    import torch
    from somelib import same
    from torch import nn

    class Net(nn.Module):
        pass

    net = Net()
    weight = nn.Parameter(torch.ones(3))
    net.register_parameter("weight", weight)
    eval("net.double()")
    converted = torch.zeros(3, requires_grad=True).type_as(weight)
    converted[0] = 1.0


def silent_parameter_of_a_list():
    import torch
    from somelib import same
    from torch import nn

    weight = nn.Parameter(torch.ones(3))
    net = nn.ParameterList([weight])
    eval("net.double()")
    converted = torch.zeros(3, requires_grad=True).type_as(weight)
    converted[0] = 1.0


def silent_parameter_given_to_a_function_elsewhere():
    import torch
    from somelib import same
    from torch import nn

    weight = nn.Parameter(torch.ones(3))
    net = same(nn.ParameterList)([weight])
    net.double()
    converted = torch.zeros(3, requires_grad=True).type_as(weight)
    converted[0] = 1.0


def converted_to_a_parameter_that_nothing_holds():
    import torch
    from torch import nn

    weight = nn.Parameter(torch.ones(3))
    converted = torch.zeros(3, requires_grad=True).type_as(weight)
    converted[0] = 1.0  # error: [TLN203]


def silent_switched_through_what_a_call_gives_back():
    import torch
    from somelib import same
    from torch import nn

    net = nn.Sequential(nn.Linear(3, 3), nn.Sigmoid(), nn.ReLU(inplace=True))
    same(net).apply(eval("lambda each: setattr(each, 'inplace', False)"))
    net(torch.rand(1, 3)).sum().backward()


def silent_hooked_through_what_a_call_gives_back():
    import torch
    from somelib import same
    from torch import nn

    criterion = nn.L1Loss(reduction="none")
    attach = eval("lambda m: m.register_forward_hook(lambda m, given, result: result.sum())")
    attach(same(criterion))
    w = torch.ones(3, requires_grad=True)
    criterion(w, torch.zeros(3)).backward()


def silent_part_replaced_in_what_a_call_gives_back():
    import torch
    from somelib import same
    from torch import nn

    net = nn.Sequential(nn.Linear(3, 3), nn.Sigmoid(), nn.ReLU(inplace=True))
    same(net)[2] = nn.ReLU()
    net(torch.rand(1, 3)).sum().backward()


def looked_at_through_what_a_call_gives_back():
    import torch
    from somelib import same
    from torch import nn

    net = nn.Sequential(nn.Linear(3, 3), nn.Sigmoid(), nn.ReLU(inplace=True))
    for each in same(net).modules():
        print(each)
    net(torch.rand(1, 3)).sum().backward()  # error: [TLN201]


def silent_set_in_an_object():
    import torch
    from somelib import found
    from torch import nn

    net = nn.Linear(3, 3)
    found.last = net
    net.weight.add_(1)


def silent_stored_in_an_object():
    import torch
    from somelib import found
    from torch import nn

    net = nn.Linear(3, 3)
    found["net"] = net
    net.weight.add_(1)


def silent_asked_of_an_object():
    import torch
    from somelib import found
    from torch import nn

    net = nn.Linear(3, 3)
    net in found
    net.weight.add_(1)


def silent_shifted_into_an_object():
    import torch
    from somelib import found
    from torch import nn

    net = nn.Linear(3, 3)
    found << net
    net.weight.add_(1)


def silent_set_by_name_in_an_object():
    import torch
    from somelib import found
    from torch import nn

    net = nn.Linear(3, 3)
    setattr(found, "last", net)
    net.weight.add_(1)


def silent_given_to_max():
    import torch
    from somelib import frozen
    from torch import nn

    net = nn.Linear(3, 3)
    max([net], key=frozen)
    net.weight.add_(1)


def silent_mapped():
    import torch
    from somelib import frozen
    from torch import nn

    net = nn.Linear(3, 3)
    list(map(frozen, [net]))
    net.weight.add_(1)


def silent_filtered():
    import torch
    from somelib import frozen
    from torch import nn

    net = nn.Linear(3, 3)
    list(filter(frozen, [net]))
    net.weight.add_(1)


def silent_reduced():
    import functools
    import torch
    from somelib import frozen
    from torch import nn

    net = nn.Linear(3, 3)
    functools.reduce(frozen, [net, net])
    net.weight.add_(1)


def silent_given_to_itertools():
    import itertools
    import torch
    from somelib import frozen
    from torch import nn

    net = nn.Linear(3, 3)
    list(itertools.starmap(frozen, [(net,)]))
    net.weight.add_(1)


def silent_given_to_a_thread():
    import threading
    import torch
    from somelib import frozen
    from torch import nn

    net = nn.Linear(3, 3)
    thread = threading.Thread(target=frozen, args=(net,))
    thread.start()
    thread.join()
    net.weight.add_(1)


def silent_in_an_evaluated_text():
    import torch
    from somelib import frozen
    from torch import nn

    net = nn.Linear(3, 3)
    eval("frozen(net)")
    net.weight.add_(1)


def silent_a_shallow_copy_is_given():
    import copy
    import torch
    from somelib import frozen
    from torch import nn

    net = nn.Linear(3, 3)
    frozen(copy.copy(net))
    net.weight.add_(1)


def silent_given_to_a_decorator_of_a_class():
    import torch
    from somelib import Keeper
    from torch import nn

    net = nn.Linear(3, 3)

    @Keeper(net)
    class Box:
        pass

    net.weight.add_(1)


def silent_default_of_a_decorated_function():
    import torch
    from somelib import frozen_default
    from torch import nn

    net = nn.Linear(3, 3)

    @frozen_default
    def function(given=net):
        return given

    net.weight.add_(1)


def silent_given_to_a_class_of_elsewhere():
    import torch
    from somelib import Keeper
    from torch import nn

    net = nn.Linear(3, 3)

    class Box(Keeper):
        pass

    Box(net)
    net.weight.add_(1)


def silent_class_method_of_elsewhere():
    import torch
    from somelib import freeze_held
    from torch import nn

    net = nn.Linear(3, 3)

    class Box:
        held = net
        freeze = classmethod(freeze_held)

    Box.freeze()
    net.weight.add_(1)


def silent_called_by_contains():
    import torch
    from somelib import frozen
    from torch import nn

    net = nn.Linear(3, 3)

    class Box:
        def __contains__(self, each):
            return bool(frozen(each))

    net in Box()
    net.weight.add_(1)


def silent_called_by_setitem():
    import torch
    from somelib import frozen
    from torch import nn

    net = nn.Linear(3, 3)

    class Box:
        def __setitem__(self, key, each):
            frozen(each)

    Box()[0] = net
    net.weight.add_(1)


def silent_called_by_class_getitem():
    import torch
    from somelib import frozen
    from torch import nn

    net = nn.Linear(3, 3)

    class Box:
        def __class_getitem__(cls, key):
            return frozen(net)

    Box[0]
    net.weight.add_(1)


def silent_called_by_init_subclass():
    import torch
    from somelib import frozen
    from torch import nn

    net = nn.Linear(3, 3)

    class Box:
        def __init_subclass__(cls):
            frozen(net)

    class Other(Box):
        pass

    net.weight.add_(1)


def silent_called_by_set_name():
    import torch
    from somelib import frozen
    from torch import nn

    net = nn.Linear(3, 3)

    class Part:
        def __set_name__(self, owner, name):
            frozen(net)

    class Box:
        part = Part()

    net.weight.add_(1)


def silent_called_by_new():
    import torch
    from somelib import frozen
    from torch import nn

    net = nn.Linear(3, 3)

    class Box:
        def __new__(cls):
            frozen(net)
            return object.__new__(cls)

    Box()
    net.weight.add_(1)


def silent_called_by_a_metaclass():
    import torch
    from somelib import frozen
    from torch import nn

    net = nn.Linear(3, 3)

    class Meta(type):
        def __call__(cls):
            return frozen(net)

    class Box(metaclass=Meta):
        pass

    Box()
    net.weight.add_(1)


def silent_called_by_hasattr():
    import torch
    from somelib import frozen
    from torch import nn

    net = nn.Linear(3, 3)

    class Box:
        @property
        def part(self):
            return frozen(net)

    hasattr(Box(), "part")
    net.weight.add_(1)


def silent_sent_to_a_generator():
    import torch
    from somelib import frozen
    from torch import nn

    net = nn.Linear(3, 3)

    def generator():
        given = yield
        frozen(given)
        yield

    started = generator()
    next(started)
    started.send(net)
    net.weight.add_(1)


def silent_mapped_by_a_generator():
    import torch
    from somelib import frozen
    from torch import nn

    net = nn.Linear(3, 3)

    def generator():
        yield from map(frozen, [net])

    list(generator())
    net.weight.add_(1)


def silent_captured_by_a_case():
    import torch
    from somelib import frozen
    from torch import nn

    net = nn.Linear(3, 3)
    match net:
        case each:
            frozen(each)
    net.weight.add_(1)


def layer_counted():
    import torch
    from torch import nn

    net = nn.Linear(3, 3)
    len([net])
    net.weight.add_(1)  # error: [TLN203]


def layer_filtered_by_nothing():
    import torch
    from torch import nn

    net = nn.Linear(3, 3)
    list(filter(None, [1]))
    net.weight.add_(1)  # error: [TLN203]


def layer_compared():
    import torch
    from torch import nn

    net = nn.Linear(3, 3)
    net in [net]
    net.weight.add_(1)  # error: [TLN203]


def layer_in_a_class():
    import torch
    from torch import nn

    net = nn.Linear(3, 3)

    class Box:
        held = net

    net.weight.add_(1)  # error: [TLN203]


def silent_written_where_nobody_knows_the_mode():
    import torch
    from somelib import session
    from torch import nn

    net = nn.Linear(3, 3)
    h = net(torch.rand(2, 3))
    norm = h.norm(dim=1, keepdim=True)
    entered = session()
    entered.__enter__()
    h /= norm
    entered.__exit__(None, None, None)
    h.sum().backward()


def written_where_the_mode_is_set():
    import torch
    from torch import nn

    net = nn.Linear(3, 3)
    h = net(torch.rand(2, 3))
    norm = h.norm(dim=1, keepdim=True)
    torch.set_grad_enabled(True)
    h /= norm  # error: [TLN201]
    h.sum().backward()


def silent_held_by_an_object_with_a_decorated_constructor():
    import torch
    from somelib import same, wrap

    freeze = eval("lambda held: held['w'].requires_grad_(False) if isinstance(held, dict) and 'w' in held else held")

    class Cell:
        @wrap
        def __init__(self, w):
            self.__dict__["w"] = w

        def __getattribute__(self, name):
            return freeze(super().__getattribute__(name))

    w = torch.ones(3, requires_grad=True)
    cell = same(Cell(w))
    cell.__dict__
    w.add_(1)


def silent_moved_to_what_may_be_a_dtype():
    import torch
    from somelib import whole
    from torch import nn

    body, head = nn.Linear(4, 3), nn.Linear(3, 1)
    features = torch.tanh(body(torch.rand(16, 4)).to(whole))
    for _ in range(2):
        head(features).pow(2).mean().backward()


def moved_to_a_device():
    import torch
    from torch import nn

    body, head = nn.Linear(4, 3), nn.Linear(3, 1)
    features = torch.tanh(body(torch.rand(16, 4)).to(torch.device("cpu")))
    for _ in range(2):
        head(features).pow(2).mean().backward()  # error: [TLN101]


def silent_special_method_put_there():
    import torch
    from somelib import thawing

    class Stages:
        def __init__(self, w):
            self.w = w

        def __len__(self):
            return 3

    Stages.__len__ = thawing(Stages.__len__)
    w = torch.ones(3)
    len(Stages(w))
    w.sum().backward()


def silent_special_method_put_there_afterwards():
    import torch
    from somelib import thawing

    class Stages:
        def __init__(self, w):
            self.w = w

        def __len__(self):
            return 3

    w = torch.ones(3)
    stages = Stages(w)
    Stages.__len__ = thawing(Stages.__len__)
    len(stages)
    w.sum().backward()


def silent_special_method_decorated():
    import torch
    from somelib import thawing

    class Stages:
        def __init__(self, w):
            self.w = w

        @thawing
        def __len__(self):
            return 3

    w = torch.ones(3)
    len(Stages(w))
    w.sum().backward()


def special_method_of_the_file():
    import torch

    class Stages:
        __slots__ = ("w",)

        def __init__(self, w):
            self.w = w

        def __len__(self):
            return 3

    w = torch.ones(3)
    len(Stages(w))
    w.sum().backward()  # error: [TLN104]


def silent_shown_through_a_property_by_a_special_method():
    import torch
    from somelib import thaw

    class Stages:
        def __init__(self, w):
            self._w = w

        @property
        def w(self):
            return self._w

        def __len__(self):
            thaw(self.w)
            return 3

    w = torch.ones(3)
    len(Stages(w))
    w.sum().backward()


def silent_constructor_decorated():
    import torch
    from torch import nn
    from somelib import wrap

    class Thawed:
        @wrap
        def __init__(self, net):
            self.net = net

        def __enter__(self):
            self.net.requires_grad_(True)

        def __exit__(self, *error):
            self.net.requires_grad_(False)

    net = nn.Linear(3, 3).requires_grad_(False)
    with Thawed(net) if eval("True") else Thawed(net):
        net(torch.ones(3)).sum().backward()


def silent_entered_by_what_is_put_there():
    import torch
    from somelib import enabling

    class Mode:
        def __enter__(self):
            return self

        def __exit__(self, *error):
            pass

    Mode.__enter__ = enabling
    w = torch.ones(3, requires_grad=True)
    with torch.no_grad():
        with Mode():
            (w * 2).sum().backward()


def silent_given_to_a_key_that_calls_it():
    import torch
    from somelib import frozen
    from torch import nn

    net = nn.Linear(3, 3)
    max([net], key=lambda each: frozen(each))
    net.weight.add_(1)


def key_that_calls_nothing_unknown():
    import torch
    from torch import nn

    net = nn.Linear(3, 3)
    max([net], key=lambda each: len(list(each.parameters())))
    net.weight.add_(1)  # error: [TLN203]


def silent_given_the_parts_of_a_layer():
    import torch
    from somelib import thaw
    from torch import nn

    layer = nn.TransformerEncoderLayer(4, 1).requires_grad_(False)
    encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    for name, part in encoder.named_children():
        thaw(part)
    encoder(torch.rand(3, 2, 4)).mean().backward()


def silent_constructor_of_one_of_two():
    from somelib import found
    from torch import nn

    class Base(nn.Module):
        def __init__(self):
            super().__init__()

    class Derived(Base):
        def __init__(self):
            Base.__init__(self if found else None)
            self.layer = nn.Linear(2, 2)

    Derived()


def silent_step_over_a_list_that_unknown_code_has_made():
    import torch
    from somelib import listed
    from torch import nn

    w = torch.randn(3, 1, requires_grad=True)
    parameters = listed(nn.Linear(1, 1))
    parameters.append(w)
    optimizer = torch.optim.SGD(parameters, lr=0.001)
    view = w.unflatten(0, (1, -1))
    squares = view * view
    squares.sum().backward()
    optimizer.step()
    torch.autograd.grad((squares * view).sum(), (squares, view))


def step_over_a_list_that_was_made_without_it():
    import torch
    from somelib import listed
    from torch import nn

    w = torch.randn(3, 1, requires_grad=True)
    optimizer = torch.optim.SGD(listed(nn.Linear(1, 1)), lr=0.001)
    view = w.unflatten(0, (1, -1))
    squares = view * view
    squares.sum().backward()
    optimizer.step()
    torch.autograd.grad((squares * view).sum(), (squares, view))  # error: [TLN101]


def silent_step_of_what_unknown_code_has_wrapped():
    import torch
    from somelib import same

    w = torch.randn(3, 1, requires_grad=True)
    optimizer = same(torch.optim.SGD([torch.ones(3, requires_grad=True)], lr=0.001))
    optimizer.add_param_group({"params": [w]})
    view = w.unflatten(0, (1, -1))
    squares = view * view
    squares.sum().backward()
    optimizer.step()
    torch.autograd.grad((squares * view).sum(), (squares, view))


def silent_backward_whose_error_is_caught():
    import torch
    from somelib import frozen

    w = torch.ones((), requires_grad=True)
    try:
        torch.autograd.grad(w, w, grad_outputs=torch.ones_like(frozen(w)))
    except RuntimeError:
        print("not this time")
    print(w.numpy())


def backward_whose_error_ends_the_program():
    import torch
    from somelib import evaluate

    w = torch.ones((), requires_grad=True)
    try:
        torch.autograd.grad(w, w, grad_outputs=torch.ones(()))
        evaluate(w)
        torch.autograd.grad(w, w, grad_outputs=torch.ones(()))
    except RuntimeError:
        raise SystemExit(1)
    print(w.numpy())  # error: [TLN111]


def silent_method_caller_of_what_a_list_of_elsewhere_holds():
    import operator
    import torch
    from somelib import same

    w = torch.rand(3, requires_grad=True)
    print(operator.methodcaller("set_grad_enabled", False)(*same((torch,))))
    w.add_(1)
    torch.set_grad_enabled(True)


def silent_layer_of_an_unknown_name_in_a_sequence():
    import torch
    from somelib import same
    from torch import nn

    class Stack(nn.Sequential):
        def __init__(self, features):
            super().__init__()
            self.linear = getattr(nn, same("Linear"))(features, features)
            self.act = nn.Tanh()

    Stack(3)(torch.rand(2, 3)).sum().backward()


def silent_index_of_what_elsewhere_made_of_an_object():
    import torch
    from somelib import same

    class Thaws:
        def __getitem__(self, x):
            x.requires_grad_()

    w = torch.ones(3)
    same(Thaws())[w]
    w.sum().backward()


def silent_operand_of_what_elsewhere_made_of_a_class():
    import torch
    from somelib import run

    class Thaws:
        def __matmul__(self, x):
            x.requires_grad_()

    w = torch.ones(3)
    run(Thaws) @ w
    w.sum().backward()


def silent_context_in_what_elsewhere_made_of_a_tuple():
    import torch
    from somelib import same

    class Base(torch.autograd.Function):
        @staticmethod
        def forward(cls, ctx, x):
            getattr(*same((ctx, "save_for_backward")))(x)
            return cls.scale * x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return 2 * x * grad

    class Doubled(Base):
        scale = 2

        @classmethod
        def forward(cls, ctx, x):
            return super().forward(cls, ctx, x)

    Doubled.apply(torch.ones(2, requires_grad=True)).sum().backward()


def silent_dropout_of_a_view_that_may_have_an_edge():
    import torch
    import torch.nn.functional as F
    from somelib import same

    w = torch.ones(3, 1, requires_grad=True)
    with torch.no_grad():
        x = w.t()
        same(x)
    y = F.dropout(x, 0.5)
    for i in range(2):
        (y * x).sum().backward()


def silent_mode_set_in_a_context_of_elsewhere_where_it_was_open():
    import torch
    from somelib import flag, session

    b = torch.arange(4.0, requires_grad=True)
    torch.set_grad_enabled(flag)
    with session():
        torch.set_grad_enabled(True)
    b.chunk(2)[0].mul_(2)
    torch.set_grad_enabled(True)


def saved_in_a_context_of_elsewhere():
    import torch
    from somelib import keeping

    with keeping():
        w = torch.randn(3, requires_grad=True)
        y = w.clone()
        z = y.square()
        y.copy_(torch.ones(3))  # warning: [TLN201]
        z.sum().backward()


def result_saved_in_a_context_of_elsewhere():
    import torch
    from somelib import keeping

    w = torch.randn(3, requires_grad=True)
    with keeping():
        y = w.sigmoid()
    y.add_(1)  # warning: [TLN201]
    y.sum().backward()


def silent_saved_in_a_context_of_elsewhere_where_grad_mode_is_on():
    import torch
    from somelib import keeping

    with keeping(), torch.enable_grad():
        w = torch.randn(3, requires_grad=True)
        y = w.exp()
        y.add_(1)
    y.sum().backward()


def saved_where_elsewhere_lets_it_be_written():
    import torch
    from somelib import mutating

    with mutating():
        w = torch.randn(3, requires_grad=True)
        y = w.clone()
        z = y.square()
        y.add_(1)  # warning: [TLN201]
        z.sum().backward()


def saved_in_a_context_that_is_an_argument():
    import torch
    from somelib import keeping

    def step(context):
        with context():
            w = torch.randn(3, requires_grad=True)
            y = w.clone()
            z = y.square()
            y.copy_(torch.ones(3))  # warning: [TLN201]
            z.sum().backward()

    step(keeping)


def saved_in_a_context_with_a_class_of_elsewhere():
    import torch
    from somelib import keeping

    class Keeping(keeping):
        pass

    with Keeping():
        w = torch.randn(3, requires_grad=True)
        y = w.clone()
        z = y.square()
        y.copy_(torch.ones(3))  # warning: [TLN201]
        z.sum().backward()


def saved_in_one_of_two_contexts():
    import contextlib
    import torch
    from somelib import flag, keeping

    with contextlib.nullcontext() if flag else keeping():
        w = torch.randn(3, requires_grad=True)
        y = w.clone()
        z = y.square()
        y.copy_(torch.ones(3))  # warning: [TLN201]
        z.sum().backward()


def saved_in_a_stack_of_contexts_of_elsewhere():
    import contextlib
    import torch
    from somelib import keeping

    with contextlib.ExitStack() as stack:
        with contextlib.nullcontext():
            stack.enter_context(keeping())
        w = torch.randn(3, requires_grad=True)
        y = w.clone()
        z = y.square()
        y.copy_(torch.ones(3))  # warning: [TLN201]
        z.sum().backward()


def saved_in_a_generator_that_enters_by_hand():
    import contextlib
    import torch
    from somelib import keeping

    @contextlib.contextmanager
    def kept():
        context = keeping()
        context.__enter__()
        yield
        context.__exit__(None, None, None)

    with kept():
        w = torch.randn(3, requires_grad=True)
        y = w.clone()
        z = y.square()
        y.copy_(torch.ones(3))  # warning: [TLN201]
        z.sum().backward()


def saved_behind_a_context_of_elsewhere():
    import torch
    from somelib import keeping

    with keeping():
        pass
    w = torch.randn(3, requires_grad=True)
    y = w.exp()
    y.add_(1)  # error: [TLN201]
    y.sum().backward()


def saved_in_contexts_of_libraries():
    import contextlib
    import threading
    import warnings
    import torch

    lock = threading.Lock()
    with lock, open("log.txt", "w"), warnings.catch_warnings(), contextlib.ExitStack(), torch.profiler.profile():
        w = torch.randn(3, requires_grad=True)
        y = w.exp()
        y.add_(1)  # error: [TLN201]
        y.sum().backward()


def freed_in_a_context_of_elsewhere():
    import torch
    from somelib import keeping

    with keeping():
        w = torch.randn(3, requires_grad=True)
        y = w.exp()
        y.sum().backward()
        y.sum().backward()  # error: [TLN101]


def silent_grad_mode_that_is_on_in_a_context_of_elsewhere():
    import torch
    from somelib import inferring

    w = torch.randn(3, requires_grad=True)
    with inferring(), torch.enable_grad():
        w.zero_()


def silent_grad_mode_set_in_a_context_of_elsewhere():
    import torch
    from somelib import inferring

    w = torch.randn(3, requires_grad=True)
    with inferring():
        with torch.enable_grad():
            w.zero_()
        torch.set_grad_enabled(True)
        w[0] = 1.0


def silent_view_in_a_context_of_elsewhere():
    import torch
    from somelib import inferring

    w = torch.randn(3, requires_grad=True)
    with inferring(), torch.set_grad_enabled(True):
        w.view(3).add_(1)


def grad_mode_is_on_behind_a_context_of_elsewhere():
    import torch
    from somelib import inferring

    w = torch.randn(3, requires_grad=True)
    with inferring(), torch.enable_grad():
        print(w)
    with torch.no_grad(), torch.enable_grad():
        w.zero_()  # error: [TLN203]


def silent_parameter_of_integers_with_options_of_elsewhere():
    import torch
    from somelib import untrained
    from torch import nn

    nn.Parameter(torch.ones(3, dtype=torch.long), **untrained)
    nn.Parameter(torch.ones(3, dtype=torch.long), *untrained.values())
    options = {"requires_grad": True, **untrained}
    nn.Parameter(torch.ones(3, dtype=torch.long), **options)


def silent_parameter_with_options_of_elsewhere_is_written():
    import torch
    from somelib import untrained
    from torch import nn

    nn.Parameter(torch.ones(3), **untrained).add_(1)
    torch.autograd.Variable(torch.ones(3), **untrained).add_(1)


def silent_partial_of_a_parameter_with_options_of_elsewhere():
    import functools
    import torch
    from somelib import untrained
    from torch import nn

    parameter = functools.partial(nn.Parameter, **untrained)
    parameter(torch.ones(3, dtype=torch.long))


def parameter_of_integers():
    import functools
    import torch
    from torch import nn

    parameter = functools.partial(nn.Parameter, requires_grad=True)
    parameter(torch.ones(3, dtype=torch.long))  # error: [TLN118]


def silent_factory_with_a_dtype_of_elsewhere():
    import functools
    import torch
    from somelib import doubles

    torch.tensor([1, 2], **doubles).requires_grad_()
    torch.arange(3, **doubles).requires_grad_()
    functools.partial(torch.tensor, **doubles)([1, 2]).requires_grad_()


def silent_conversion_with_a_dtype_of_elsewhere():
    import torch
    from somelib import doubles

    w = torch.ones(3, requires_grad=True)
    torch.as_tensor(w, **doubles).add_(1)


def sum_with_a_dtype_of_elsewhere():
    import torch
    from somelib import doubles

    # "where `torch.tensor(…).sum(…)` changes nothing of that"
    torch.tensor([1, 2]).sum(**doubles).requires_grad_()  # warning: [TLN118]


def silent_input_that_unknown_code_may_write():
    import torch
    from somelib import overwriting

    leaf = torch.tensor(2.0, requires_grad=True)
    x = torch.celu(leaf)
    h = x.detach().clone()
    for _ in range(3):
        h = h * x + overwriting(x)
        torch.autograd.grad(h.sum(), x)


def input_that_no_unknown_code_has():
    import torch

    leaf = torch.tensor(2.0, requires_grad=True)
    x = torch.celu(leaf)
    h = x.detach().clone()
    for _ in range(3):
        h = h * x + x.sin()
        torch.autograd.grad(h.sum(), x)  # error: [TLN101]


def silent_state_that_is_kept_where_elsewhere_says_so():
    import torch
    from somelib import flag

    w = torch.randn((), requires_grad=True)
    h = torch.zeros(())
    state = {}
    for _ in range(3):
        h = w.exp() - h
        h = state.get("h", h)
        if flag:
            state["h"] = h
        torch.autograd.grad(h.sum(), w)
        h = h.detach()


def silent_layers_thawed_where_elsewhere_says_so():
    import torch
    from somelib import scalar
    from torch import nn

    thawed = scalar is not None
    net = nn.Linear(3, 1).requires_grad_(False)
    list(map(nn.Module.requires_grad_, [net] if thawed else scalar))
    net(torch.rand(3)).sum().backward()


def silent_default_set_by_what_a_decorated_function_hands_on():
    import torch
    from somelib import wrap

    @wrap
    def prepare():
        wrap(torch.set_default_dtype)(torch.float64)

    prepare()
    start = torch.zeros(3, requires_grad=True).double()
    torch.optim.Adam([start], lr=0.1)
    torch.set_default_dtype(torch.float32)


def method_that_a_class_decorator_of_elsewhere_may_wrap():
    import torch
    from somelib import computing

    @computing
    class Trainer:
        def step(self, w):
            loss = w.exp().sum()
            loss.backward()
            return loss

    w = torch.rand(3, requires_grad=True)
    Trainer().step(w).backward()  # warning: [TLN101]


def method_that_a_base_of_elsewhere_may_wrap():
    import torch
    from somelib import Computing

    class Trainer(Computing):
        def step(self, w):
            loss = w.exp().sum()
            loss.backward()
            return loss

    w = torch.rand(3, requires_grad=True)
    Trainer().step(w).backward()  # warning: [TLN101]


def method_of_a_class_below_one_that_a_base_of_elsewhere_may_wrap():
    import torch
    from somelib import Computing

    class Base(Computing):
        pass

    class Steps:
        def step(self, w):
            loss = w.exp().sum()
            loss.backward()
            return loss

    class Trainer(Steps, Base):
        pass

    w = torch.rand(3, requires_grad=True)
    Trainer().step(w).backward()  # warning: [TLN101]


def method_of_a_class_of_which_all_is_known():
    import torch

    class Trainer:
        def step(self, w):
            loss = w.exp().sum()
            loss.backward()
            return loss

    w = torch.rand(3, requires_grad=True)
    Trainer().step(w).backward()  # error: [TLN101]


def parameter_that_a_base_of_elsewhere_may_set_otherwise():
    import torch
    from somelib import Computing
    from torch import nn

    class Net(Computing, nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(torch.ones(3)) * 2  # warning: [TLN301]

        def forward(self, x):
            return x * self.scale

    assert len(list(Net().parameters())) == 1


def frozen_layer_of_a_class_that_elsewhere_may_wrap():
    import torch
    from somelib import computing
    from torch import nn

    @computing
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.f = nn.Linear(3, 1).requires_grad_(False)

        def embed(self, x):
            return self.f(x)

    Net().embed(torch.rand(2, 3)).sum().backward()  # warning: [TLN104]


def object_of_elsewhere_that_has_nothing_to_do_with_it():
    import torch
    from somelib import Computing

    class Settings(Computing):
        rate = 0.1

    settings = Settings()
    w = torch.rand(3, requires_grad=True)
    loss = (w * settings.rate).exp().sum()
    loss.backward()
    loss.backward()  # error: [TLN101]


def method_within_a_class_that_elsewhere_decorates():
    import torch
    from somelib import computing

    @computing
    class Trainer:
        def step(self):
            w = torch.rand(3, requires_grad=True)
            y = w.exp()
            y.add_(1)  # warning: [TLN201]
            y.sum().backward()


def silent_flattened_sum_of_what_may_have_elements():
    import torch
    from somelib import load

    leaf = torch.rand(1, 3, requires_grad=True)
    total = leaf.sum() * 1 + load()["w"]
    with torch.no_grad():
        flat = torch.flatten(total)
    flat.floor_()


def silent_view_of_data_that_is_a_leaf_now():
    import torch
    from somelib import same

    leaf = torch.rand(2, 3, requires_grad=True)
    with torch.no_grad():
        copy = leaf.repeat_interleave(2)
    same(copy)
    copy.add_(1)
    copy.requires_grad_()
    copy.exp().sum().backward()


def switch_of_a_class_of_settings_of_elsewhere():
    import torch
    from somelib import Settings

    class Options(Settings):
        retain = False

    w = torch.rand(3, requires_grad=True)
    loss = w.exp().sum()
    loss.backward(retain_graph=Options.retain)
    loss.backward()  # warning: [TLN101]


def silent_error_of_a_class_that_elsewhere_has():
    import torch
    from somelib import Refused

    w = torch.rand(3, requires_grad=True)
    loss = w.exp().sum()
    loss.backward()
    try:
        loss.backward()
    except Refused:
        pass


def silent_error_of_several_classes_one_of_elsewhere():
    import torch
    from somelib import Refused

    class Broken(Refused):
        pass

    w = torch.rand(3, requires_grad=True)
    loss = w.exp().sum()
    loss.backward()
    try:
        loss.backward()
    except (KeyError, Refused, Broken):
        pass


def error_beside_a_class_that_is_none_of_torch():
    import json

    import torch

    class Broken(ValueError):
        pass

    w = torch.rand(3, requires_grad=True)
    loss = w.exp().sum()
    loss.backward()
    try:
        loss.backward()  # error: [TLN101]
    except (KeyError, json.JSONDecodeError, Broken):
        pass


def silent_error_of_which_nobody_hears():
    import torch

    def step(w):
        try:
            w.add_(1)
        finally:
            return w

    step(torch.rand(3, requires_grad=True))


def step_that_elsewhere_has_put_into_an_optimizer():
    import torch
    from somelib import nothing

    net = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    optimizer.zero_grad = nothing
    net(torch.rand(3, 2)).sum().backward()
    optimizer.zero_grad()
    optimizer.step()  # warning: [TLN403]


def freezing_that_elsewhere_has_put_into_a_layer():
    import torch
    from somelib import nothing

    net = torch.nn.Linear(2, 1)
    net.requires_grad_ = nothing
    net.requires_grad_(False)
    net(torch.rand(3, 2)).sum().backward()  # warning: [TLN104]


def class_in_a_list_that_elsewhere_has():
    import torch
    from somelib import silence

    class Trainer:
        def step(self, w):
            loss = w.exp().sum()
            loss.backward()
            loss.backward()  # warning: [TLN101]

    silence([Trainer])
    w = torch.rand(3, requires_grad=True)
    Trainer().step(w)


def class_in_a_dictionary_that_elsewhere_has():
    import torch
    from somelib import silence

    class Trainer:
        def step(self, w):
            loss = w.exp().sum()
            loss.backward()
            loss.backward()  # warning: [TLN101]

    silence({"trainer": Trainer})
    w = torch.rand(3, requires_grad=True)
    Trainer().step(w)


def class_in_a_tuple_that_elsewhere_has():
    import torch
    from somelib import silence

    class Trainer:
        def step(self, w):
            loss = w.exp().sum()
            loss.backward()
            loss.backward()  # warning: [TLN101]

    silence((Trainer, 1))
    w = torch.rand(3, requires_grad=True)
    Trainer().step(w)


def class_that_a_function_gives_elsewhere():
    import torch
    from somelib import silence

    class Trainer:
        def step(self, w):
            loss = w.exp().sum()
            loss.backward()
            loss.backward()  # warning: [TLN101]

    silence(lambda: Trainer)
    w = torch.rand(3, requires_grad=True)
    Trainer().step(w)


def object_that_a_function_makes_for_elsewhere():
    import torch
    from somelib import silence

    class Trainer:
        def step(self, w):
            loss = w.exp().sum()
            loss.backward()
            loss.backward()  # warning: [TLN101]

    def make():
        return Trainer()

    silence(make)
    w = torch.rand(3, requires_grad=True)
    Trainer().step(w)


def attribute_of_a_class_that_elsewhere_has():
    import torch
    from somelib import silence

    class Trainer:
        def step(self, w):
            loss = w.exp().sum()
            loss.backward()
            loss.backward()  # warning: [TLN101]

    class Holder:
        held = Trainer

    silence(Holder)
    w = torch.rand(3, requires_grad=True)
    Trainer().step(w)


def attribute_of_the_class_of_an_object_that_elsewhere_has():
    import torch
    from somelib import silence

    class Trainer:
        def step(self, w):
            loss = w.exp().sum()
            loss.backward()
            loss.backward()  # warning: [TLN101]

    class Holder:
        held = Trainer

    silence(Holder())
    w = torch.rand(3, requires_grad=True)
    Trainer().step(w)


def base_of_a_class_that_elsewhere_has():
    import torch
    from somelib import silence

    class Trainer:
        def step(self, w):
            loss = w.exp().sum()
            loss.backward()
            loss.backward()  # warning: [TLN101]

    class Derived(Trainer):
        pass

    silence(Derived)
    w = torch.rand(3, requires_grad=True)
    Trainer().step(w)


def class_that_is_put_into_a_module_of_elsewhere():
    import torch
    import somelib

    class Trainer:
        def step(self, w):
            loss = w.exp().sum()
            loss.backward()
            loss.backward()  # warning: [TLN101]

    somelib.held = Trainer
    somelib.silence_held()
    w = torch.rand(3, requires_grad=True)
    Trainer().step(w)


def class_that_elsewhere_registers():
    import torch
    from somelib import catalogue

    class Trainer:
        def step(self, w):
            loss = w.exp().sum()
            loss.backward()
            loss.backward()  # warning: [TLN101]

    catalogue.register(Trainer)
    w = torch.rand(3, requires_grad=True)
    Trainer().step(w)


def class_in_a_registry_of_the_file_that_elsewhere_has():
    import torch
    from somelib import silence

    class Trainer:
        def step(self, w):
            loss = w.exp().sum()
            loss.backward()
            loss.backward()  # warning: [TLN101]

    KNOWN = {}

    KNOWN["trainer"] = Trainer
    silence(KNOWN)
    w = torch.rand(3, requires_grad=True)
    Trainer().step(w)


def object_in_a_list_that_elsewhere_has():
    import torch
    from somelib import silence

    class Trainer:
        def step(self, w):
            loss = w.exp().sum()
            loss.backward()
            loss.backward()  # warning: [TLN101]

    trainer = Trainer()
    silence([trainer])
    trainer.step(torch.rand(3, requires_grad=True))


def object_in_a_dictionary_that_elsewhere_has():
    import torch
    from somelib import silence

    class Trainer:
        def step(self, w):
            loss = w.exp().sum()
            loss.backward()
            loss.backward()  # warning: [TLN101]

    trainer = Trainer()
    silence({"trainer": trainer})
    trainer.step(torch.rand(3, requires_grad=True))


def method_of_an_object_that_elsewhere_has():
    import torch
    from somelib import silence

    class Trainer:
        def step(self, w):
            loss = w.exp().sum()
            loss.backward()
            loss.backward()  # warning: [TLN101]

    trainer = Trainer()
    silence(trainer.step)
    trainer.step(torch.rand(3, requires_grad=True))


def object_that_a_function_gives_elsewhere():
    import torch
    from somelib import silence

    class Trainer:
        def step(self, w):
            loss = w.exp().sum()
            loss.backward()
            loss.backward()  # warning: [TLN101]

    trainer = Trainer()
    silence(lambda: trainer)
    trainer.step(torch.rand(3, requires_grad=True))


def object_that_is_put_into_a_module_of_elsewhere():
    import torch
    import somelib

    class Trainer:
        def step(self, w):
            loss = w.exp().sum()
            loss.backward()
            loss.backward()  # warning: [TLN101]

    trainer = Trainer()
    somelib.held = trainer
    somelib.silence_held()
    trainer.step(torch.rand(3, requires_grad=True))


def silent_classes_below_one_that_elsewhere_has():
    import torch
    from somelib import silence

    class Base:
        pass

    class Trainer(Base):
        def step(self, w):
            loss = w.exp().sum()
            loss.backward()
            loss.backward()

    for each in Base.__subclasses__():
        silence(each)
    w = torch.rand(3, requires_grad=True)
    Trainer().step(w)


def silent_class_that_its_own_method_names():
    import torch
    from somelib import silence

    class Trainer:
        def __init__(self):
            silence(__class__)

        def step(self, w):
            loss = w.exp().sum()
            loss.backward()
            loss.backward()

    w = torch.rand(3, requires_grad=True)
    Trainer().step(w)


def class_that_its_base_shows_elsewhere():
    import torch
    from somelib import silence

    class Base:
        def __init_subclass__(cls, **kwargs):
            super().__init_subclass__(**kwargs)
            silence(cls)

    class Trainer(Base):
        def step(self, w):
            loss = w.exp().sum()
            loss.backward()
            loss.backward()  # warning: [TLN101]

    w = torch.rand(3, requires_grad=True)
    Trainer().step(w)


def object_that_its_base_shows_elsewhere():
    import torch
    from somelib import silence

    class Base:
        def __new__(cls):
            made = super().__new__(cls)
            silence(made)
            return made

    class Trainer(Base):
        def step(self, w):
            loss = w.exp().sum()
            loss.backward()
            loss.backward()  # warning: [TLN101]

    w = torch.rand(3, requires_grad=True)
    Trainer().step(w)


def class_that_its_attribute_shows_elsewhere():
    import torch
    from somelib import silence

    class Named:
        def __set_name__(self, owner, name):
            silence(owner)

    class Trainer:
        named = Named()

        def step(self, w):
            loss = w.exp().sum()
            loss.backward()
            loss.backward()  # warning: [TLN101]

    w = torch.rand(3, requires_grad=True)
    Trainer().step(w)


def class_that_an_attribute_of_elsewhere_is_told_of():
    import torch
    from somelib import Named

    class Trainer:
        named = Named()

        def step(self, w):
            loss = w.exp().sum()
            loss.backward()
            loss.backward()  # warning: [TLN101]

    w = torch.rand(3, requires_grad=True)
    Trainer().step(w)


def class_that_a_class_method_of_its_base_shows_elsewhere():
    import torch
    from somelib import silence

    class Base:
        @classmethod
        def prepare(cls):
            silence(cls)

    class Trainer(Base):
        def step(self, w):
            loss = w.exp().sum()
            loss.backward()
            loss.backward()  # warning: [TLN101]

    Trainer.prepare()
    w = torch.rand(3, requires_grad=True)
    Trainer().step(w)


def class_that_its_base_keeps_in_a_list():
    import torch

    class Base:
        known = []

        def __init_subclass__(cls, **kwargs):
            super().__init_subclass__(**kwargs)
            Base.known.append(cls)

    class Trainer(Base):
        def step(self, w):
            loss = w.exp().sum()
            loss.backward()
            loss.backward()  # error: [TLN101]

    w = torch.rand(3, requires_grad=True)
    Trainer().step(w)


def other_class_in_a_list_that_elsewhere_has():
    import torch
    from somelib import silence

    class Trainer:
        def step(self, w):
            loss = w.exp().sum()
            loss.backward()
            loss.backward()  # error: [TLN101]

    class Other:
        pass

    silence([Other])
    w = torch.rand(3, requires_grad=True)
    Trainer().step(w)


def class_in_a_list_that_elsewhere_only_reads():
    import torch

    class Trainer:
        def step(self, w):
            loss = w.exp().sum()
            loss.backward()
            loss.backward()  # error: [TLN101]

    print([Trainer])
    w = torch.rand(3, requires_grad=True)
    Trainer().step(w)


def layer_without_super_init_in_a_list_that_elsewhere_has():
    from somelib import silence
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            self.f = nn.Linear(2, 1)  # warning: [TLN308]

    silence([Net])
    Net()


def optimizer_in_a_list_that_elsewhere_has():
    import torch
    from somelib import silence
    from torch import nn

    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    silence([optimizer])
    net(torch.rand(1, 2)).sum().backward()
    optimizer.zero_grad()
    optimizer.step()  # warning: [TLN403]


def layer_in_a_list_that_elsewhere_has():
    import torch
    from somelib import silence
    from torch import nn

    act = nn.ReLU(inplace=True)
    silence([act])
    y = torch.rand(3, requires_grad=True).exp()
    act(y)  # warning: [TLN201]
    y.sum().backward()


def silent_variable_that_a_function_under_a_decorator_of_elsewhere_sets():
    import torch
    from somelib import later, run_later

    w = torch.rand(3, requires_grad=True)
    loss = w.exp().sum()

    @later
    def renew():
        global loss
        loss = w.exp().sum()

    loss.backward()
    run_later()
    loss.backward()


def class_that_is_put_into_a_list_of_elsewhere():
    import torch
    import somelib

    class Trainer:
        def step(self, w):
            loss = w.exp().sum()
            loss.backward()
            loss.backward()  # warning: [TLN101]

    somelib.listed_classes.append(Trainer)
    somelib.silence(somelib.listed_classes)
    w = torch.rand(3, requires_grad=True)
    Trainer().step(w)


def class_that_is_put_into_a_dictionary_of_elsewhere():
    import torch
    import somelib

    class Trainer:
        def step(self, w):
            loss = w.exp().sum()
            loss.backward()
            loss.backward()  # warning: [TLN101]

    somelib.named_classes["trainer"] = Trainer
    somelib.silence(somelib.named_classes)
    w = torch.rand(3, requires_grad=True)
    Trainer().step(w)


def class_that_is_set_by_name_in_a_module_of_elsewhere():
    import torch
    import somelib

    class Trainer:
        def step(self, w):
            loss = w.exp().sum()
            loss.backward()
            loss.backward()  # warning: [TLN101]

    setattr(somelib, "held", Trainer)
    somelib.silence_held()
    w = torch.rand(3, requires_grad=True)
    Trainer().step(w)


def object_that_is_put_into_a_list_of_elsewhere():
    import torch
    import somelib

    class Trainer:
        def step(self, w):
            loss = w.exp().sum()
            loss.backward()
            loss.backward()  # warning: [TLN101]

    trainer = Trainer()
    somelib.listed_classes.append(trainer)
    somelib.silence(somelib.listed_classes)
    trainer.step(torch.rand(3, requires_grad=True))


def class_in_a_dictionary_that_a_function_gives_elsewhere():
    import torch
    from somelib import silence

    class Trainer:
        def step(self, w):
            loss = w.exp().sum()
            loss.backward()
            loss.backward()  # warning: [TLN101]

    silence(lambda: {"trainer": Trainer})
    w = torch.rand(3, requires_grad=True)
    Trainer().step(w)


def class_that_an_object_that_elsewhere_has_holds():
    import torch
    from somelib import silence

    class Trainer:
        def step(self, w):
            loss = w.exp().sum()
            loss.backward()
            loss.backward()  # warning: [TLN101]

    class Holder:
        def __init__(self):
            self.held = Trainer

    silence(Holder())
    w = torch.rand(3, requires_grad=True)
    Trainer().step(w)


def object_of_an_object_in_a_list_that_elsewhere_has():
    import torch
    from somelib import silence

    class Trainer:
        def step(self, w):
            loss = w.exp().sum()
            loss.backward()
            loss.backward()  # warning: [TLN101]

    trainer = Trainer()

    class Holder:
        def __init__(self):
            self.held = trainer

    silence([Holder()])
    trainer.step(torch.rand(3, requires_grad=True))


def silent_copy_of_an_object_in_a_list_that_elsewhere_has():
    import torch
    import copy
    from somelib import silence

    class Trainer:
        def step(self, w):
            loss = w.exp().sum()
            loss.backward()
            loss.backward()

    trainer = Trainer()
    silence([trainer])
    trainer = copy.deepcopy(trainer)
    trainer.step(torch.rand(3, requires_grad=True))


def fields_of_a_dataclass():
    import torch
    from dataclasses import dataclass, field

    @dataclass
    class Trainer:
        kept: list = field(default_factory=list)

        def step(self, w):
            loss = w.exp().sum()
            loss.backward()
            loss.backward()  # error: [TLN101]

    w = torch.rand(3, requires_grad=True)
    Trainer().step(w)


def class_of_which_there_is_one_object():
    import torch

    class Trainer:
        made = None

        def __new__(cls):
            if cls.made is None:
                cls.made = super().__new__(cls)
            return cls.made

        def step(self, w):
            loss = w.exp().sum()
            loss.backward()
            loss.backward()  # error: [TLN101]

    w = torch.rand(3, requires_grad=True)
    Trainer().step(w)


def mode_method_that_hands_a_network_on_when_torch_calls_it():
    from somelib import freeze
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(2, 1)

        def train(self, mode=True):
            freeze(self)
            return self

    net = Net().eval()
    net.fc.weight.add_(1)


def mode_method_of_a_part_that_hands_it_on_when_torch_calls_it():
    from somelib import freeze
    from torch import nn

    class Norm(nn.BatchNorm1d):
        def train(self, mode=True):
            super().train(mode)
            freeze(self)
            return self

    net = nn.Sequential(nn.Linear(2, 2), Norm(2))
    net.train()
    net[1].weight.add_(1)
    net[1].bias.detach().numpy()


def layer_that_freezes_itself_when_its_network_is_switched():
    import torch
    from torch import nn

    class Norm(nn.BatchNorm1d):
        def train(self, mode=True):
            super().train(mode)
            for p in self.parameters():
                p.requires_grad_(False)
            return self

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = Norm(2)
            self.fc = nn.Linear(2, 2)

    net = Net()
    net.eval()
    net.norm.weight.add_(1)
    net.norm(torch.ones(3, 2)).sum().backward()  # error: [TLN104]


def layer_beside_one_that_freezes_itself_when_it_is_switched():
    from torch import nn

    class Norm(nn.BatchNorm1d):
        def train(self, mode=True):
            super().train(mode)
            self.requires_grad_(False)
            return self

    net = nn.Sequential(Norm(2), nn.Linear(2, 2)).eval()
    net[0].weight.add_(1)
    net[1].weight.add_(1)  # error: [TLN203]


def layer_that_hands_itself_on_when_it_is_initialised():
    from somelib import freeze
    from torch import nn

    class Linear(nn.Linear):
        def reset_parameters(self):
            super().reset_parameters()
            freeze(self)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = Linear(2, 1)

    Net().fc.weight.add_(1)


def layer_that_initialises_itself():
    from torch import nn

    class Linear(nn.Linear):
        def reset_parameters(self):
            nn.init.normal_(self.weight)

    Linear(2, 1).weight.add_(1)  # error: [TLN203]


def layer_that_hands_itself_on_when_it_is_converted():
    import torch
    from somelib import freeze
    from torch import nn

    class Linear(nn.Linear):
        def _apply(self, fn):
            super()._apply(fn)
            freeze(self)
            return self

    net = nn.Sequential(Linear(2, 1)).to(torch.float64)
    net[0].weight.numpy()


def layer_that_keeps_a_tensor_of_its_own_when_it_is_converted():
    import torch
    from torch import nn

    class Linear(nn.Linear):
        def _apply(self, fn, recurse=True):
            super()._apply(fn)
            self.offset = fn(torch.zeros(1))
            return self

    net = nn.Sequential(Linear(2, 1)).to(torch.float64)
    net[0].weight.numpy()  # error: [TLN111]


def network_that_hands_itself_on_when_it_is_loaded():
    from somelib import freeze
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(2, 1)

        def _load_from_state_dict(self, *given):
            freeze(self)

    net = Net()
    net.load_state_dict(net.state_dict())
    net.fc.weight.add_(1)


def parameter_that_is_registered_by_code_of_elsewhere():
    import torch
    from somelib import frozen
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.ones(2))

        def register_parameter(self, name, parameter):
            super().register_parameter(name, frozen(parameter))

    net = Net()
    net.w.add_(1)  # warning: [TLN203]


def network_that_hands_itself_on_when_it_is_shown():
    from somelib import freeze
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(2, 1)

        def extra_repr(self):
            freeze(self)
            return ""

    net = Net()
    print(net)
    net.fc.weight.add_(1)


def network_that_lists_its_parameters_by_code_of_elsewhere():
    import torch
    from somelib import same
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(2, 1)

        def parameters(self, recurse=True):
            return same([])

    net = Net()
    net.requires_grad_(False)
    net.fc(torch.ones(1, 2)).sum().backward()


def network_that_lists_some_of_its_parameters():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Linear(2, 2)
            self.head = nn.Linear(2, 1)

        def parameters(self, recurse=True):
            return self.head.parameters()

    net = Net()
    net.requires_grad_(False)
    net.head.weight.add_(1)
    net.body(torch.ones(1, 2)).sum().backward()
    net.body.weight.add_(1)  # error: [TLN203]


def members_of_an_object_updated_at_once():
    import torch
    from somelib import methods

    class Trainer:
        def step(self, loss):
            loss.backward()  # warning: [TLN101]

    t = Trainer()
    t.__dict__.update(methods)
    w = torch.rand(3, requires_grad=True)
    loss = w.exp().sum()
    t.step(loss)
    t.step(loss)


def members_of_an_object_joined_with_what_is_found():
    import torch
    from somelib import methods

    class Trainer:
        def step(self, loss):
            loss.backward()  # warning: [TLN101]

    t = Trainer()
    t.__dict__ |= methods
    w = torch.rand(3, requires_grad=True)
    loss = w.exp().sum()
    t.step(loss)
    t.step(loss)


def members_of_an_object_given_away_at_once():
    import torch
    from somelib import equip

    class Trainer:
        def step(self, loss):
            loss.backward()  # warning: [TLN101]

    t = Trainer()
    equip(t.__dict__)
    w = torch.rand(3, requires_grad=True)
    loss = w.exp().sum()
    t.step(loss)
    t.step(loss)


def members_of_an_object_given_away_as_what_vars_gives():
    import torch
    from somelib import equip

    class Trainer:
        def step(self, loss):
            loss.backward()  # warning: [TLN101]

    t = Trainer()
    equip(vars(t))
    w = torch.rand(3, requires_grad=True)
    loss = w.exp().sum()
    t.step(loss)
    t.step(loss)


def members_of_an_object_in_which_a_name_of_elsewhere_is_set():
    import torch
    from somelib import name, passing

    class Trainer:
        def step(self, loss):
            loss.backward()  # warning: [TLN101]

    t = Trainer()
    t.__dict__[name] = passing
    w = torch.rand(3, requires_grad=True)
    loss = w.exp().sum()
    t.step(loss)
    t.step(loss)


def members_of_an_object_that_its_constructor_finds():
    import torch
    from somelib import methods

    class Base:
        def __init__(self, **settings):
            self.__dict__.update(settings)

    class Trainer(Base):
        def step(self, loss):
            loss.backward()  # warning: [TLN101]

    t = Trainer(**methods)
    w = torch.rand(3, requires_grad=True)
    loss = w.exp().sum()
    t.step(loss)
    t.step(loss)


def members_of_an_object_that_are_its_settings():
    import torch

    class Trainer:
        def __init__(self, **settings):
            self.__dict__.update(settings)

        def step(self, loss):
            loss.backward()  # error: [TLN101]

    t = Trainer(rate=0.1)
    w = torch.rand(3, requires_grad=True)
    loss = w.exp().sum()
    t.step(loss)
    t.step(loss)


def layer_whose_members_are_found_elsewhere():
    from somelib import methods
    from torch import nn

    class Net(nn.Linear):
        def __init__(self):
            super().__init__(2, 2)
            self.__dict__.update(methods)

        def step(self, *given):
            self.weight.add_(1)  # warning: [TLN203]

    class Whole(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = Net()

    whole = Whole()
    whole.net.step()


def layer_given_to_what_a_decorator_of_elsewhere_wraps():
    import torch
    from somelib import handing

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.lin = torch.nn.Linear(2, 2)

        @handing
        def size(self):
            return 2

    net = Net()
    net.size()
    net.lin.weight.add_(1)  # warning: [TLN203]


def number_given_to_what_a_decorator_of_elsewhere_wraps():
    import torch
    from somelib import handing

    @handing
    def double(n):
        return 2 * n

    lin = torch.nn.Linear(2, 2)
    double(2)
    lin.weight.add_(1)  # error: [TLN203]


def silent_list_of_an_object_that_elsewhere_hands_back():
    import torch
    from somelib import same

    class Search:
        def __init__(self):
            self.points = [torch.zeros(3)]

        def slope(self):
            self.points[0].exp().sum().backward()

    search = Search()
    next(iter(same([search.points]))).insert(*same((0, torch.zeros(3, requires_grad=True))))
    search.slope()


def silent_list_of_an_object_under_another_name():
    import torch

    class Search:
        def __init__(self):
            self.points = [torch.zeros(3)]

        def slope(self):
            self.points[0].exp().sum().backward()

    search = Search()
    points = search.points
    points.insert(0, torch.zeros(3, requires_grad=True))
    search.slope()


def list_of_an_object_of_which_only_a_part_is_asked():
    import torch

    class Search:
        def __init__(self):
            self.points = [torch.zeros(3)]

        def slope(self):
            self.points[0].exp().sum().backward()  # error: [TLN104]

    search = Search()
    print(search.points[0])
    search.slope()


def silent_layer_that_elsewhere_may_tell_to_write():
    import torch
    from somelib import same
    from torch import nn

    w = torch.tensor(2.0, requires_grad=True)
    with torch.no_grad():
        y = nn.LeakyReLU(0.1, inplace=next(iter(same([True]))))(w)
    y.backward()


def function_by_itself_beside_a_script_that_uses_a_class_of_elsewhere():
    import torch
    from somelib import computing

    @computing
    class Trainer:
        def scale(self, w):
            return w * 2

    def slope():
        w = torch.rand(3)
        w.sum().backward()  # error: [TLN104]

    Trainer().scale(torch.rand(3))
    slope() if torch.rand(()) < 2 else None


def forward_pre_hook_of_elsewhere_is_given_the_model():
    import torch
    from somelib import freezing
    from torch import nn

    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU(inplace=True))
    model.register_forward_pre_hook(freezing)
    model[0].register_full_backward_hook(lambda module, grad_input, grad_output: None)
    model(torch.rand(1, 2))


def silent_arm_that_another_call_is_for():
    import torch
    from somelib import same

    def attack(x, bound):
        eta = torch.zeros(3, requires_grad=True)
        if bound == "linf":
            eta = torch.zeros(3)
        if bound == same("l2"):
            (x * eta).sum().backward()
            eta.grad.zero_()
        return x + eta

    attack(torch.rand(3), "linf")
    attack(torch.rand(3), "l2")


def arm_that_fails_in_each_call():
    import torch
    from somelib import same

    def attack(x, bound):
        eta = torch.zeros(3)
        if bound == same("l2"):
            (x * eta).sum().backward()  # error: [TLN104]
        return x + eta

    attack(torch.rand(3), "linf")
    attack(torch.rand(3), "l2")


def arm_of_one_decision_for_two_calls():
    import torch
    from somelib import same

    verbose = same(True)

    def slope(x):
        if verbose:
            x.sum().backward()  # error: [TLN104]

    slope(torch.rand(3, requires_grad=True))
    slope(torch.rand(3))


def silent_rest_that_another_call_comes_to():
    import torch
    from somelib import same

    def slope(x, kind):
        if kind == same("data"):
            return
        x.sum().backward()

    slope(torch.rand(3), "data")
    slope(torch.rand(3, requires_grad=True), "leaf")


def rest_that_one_call_comes_to():
    import torch
    from somelib import same

    def slope(x, kind):
        if kind != same("data"):
            return
        x.sum().backward()  # error: [TLN104]

    slope(torch.rand(3), "data")


def silent_arm_that_two_functions_come_to():
    import torch
    from somelib import same

    def slope(x, kind):
        if kind == same("leaf"):
            x.sum().backward()

    def of_leaf():
        slope(torch.rand(3, requires_grad=True), "leaf")

    def of_data():
        slope(torch.rand(3), "data")

    of_leaf()
    of_data()


def silent_write_for_another_call():
    import torch
    from somelib import same

    def scale(w, kind):
        if kind == same("data"):
            w.mul_(2)

    scale(torch.rand(3, requires_grad=True), "leaf")
    scale(torch.rand(3), "data")


def silent_switch_turned_by_what_elsewhere_hands_back():
    import torch
    from somelib import same

    class Probe:
        def __init__(self):
            self.live = False

        def enable(self):
            self.live = True

        def slope(self):
            x = torch.rand(3, requires_grad=True)
            y = x if self.live else x.detach()
            y.sum().backward()
            return x.grad

    probe = Probe()
    same(probe).enable()
    probe.slope()


def silent_told_to_require_grad_in_a_try_where_a_function_may_come_to_its_end():
    import torch
    from somelib import same

    def early(t):
        if same(t) > 5:
            return t
        t = t.exp()
        try:
            if same(True):
                try:
                    return t * 2
                except ValueError:
                    pass
        finally:
            t.add_(1)

    a = early(torch.ones(()))
    try:
        a.requires_grad_()
    except AttributeError:
        pass
    a.backward()


def silent_iterations_left_in_a_try_that_cannot_fail():
    import torch
    from somelib import nothing

    w = torch.ones(3, requires_grad=True)
    y = w.exp()
    for i in range(3):
        if i != 0:
            try:
                continue
            except ValueError:
                nothing()
        y.sum().backward()


def iterations_left_in_a_try_that_may_fail():
    import torch
    from somelib import nothing

    w = torch.ones(3, requires_grad=True)
    y = w.exp()
    for i in range(3):
        try:
            int("one")
            continue
        except ValueError:
            nothing()
        y.sum().backward()  # error: [TLN101]


def silent_parameter_of_what_may_be_the_module():
    import torch
    from somelib import same
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.ones(2)).double()
            same(self).w = nn.Parameter(self.w)

    assert len(list(Net().parameters())) == 1


def silent_one_of_several_numbers():
    import torch
    from somelib import same

    w = torch.ones(3, requires_grad=True)
    y = w.exp()
    kind = same(1)
    if kind == 1:
        y.sum().backward()
    if kind == 2:
        y.sum().backward()


def silent_cast_from_what_a_double_was_multiplied_with():
    import torch
    from somelib import same
    from torch import nn

    class Attention(nn.Module):
        def __init__(self, dim):
            super().__init__()
            self.score = nn.Linear(dim, dim)

        def forward(self, x):
            w = torch.softmax(self.score(x).double() * same(2), dim=-1).to(torch.float32)
            w *= 2
            return w

    Attention(3)(torch.rand(2, 3)).sum().backward()
