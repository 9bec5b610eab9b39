"""
Safe fixes against programs that were written to break them.

A fix is safe if every outcome of a program that runs is kept: what is printed, which exception ends it, all values and
gradients that a name leads to (up to round-off), the type of every value. Each program here runs as it stands, and
looks like what a rule's safe fix is for; the one thing that differs is why the fix would do harm. It is run under torch
before and after all safe fixes. `KEPT` are programs that must get their safe fix all the same.

`tests/test_fixes.py` does the same for the rules' own examples and cases.
"""

from __future__ import annotations

import math
import textwrap

import expectations
import gradients
import pytest

from torchlint.lint import fixpoint
from torchlint.syntax.tree import Decoded

ADVERSARIES: dict[str, str] = {
    # TLN804: not torch's own loader
    "TLN804 a class of the file": """
        class DataLoader(torch.utils.data.DataLoader):
            def __init__(self, *arguments, persistent_workers=False, **options):
                super().__init__(*arguments, **options)
                self.kept = torch.tensor(float(persistent_workers))
        kept = DataLoader(range(4), persistent_workers=True).kept
        """,
    "TLN804 the refusal is expected": """
        from torch.utils.data import DataLoader
        try:
            loader, size = DataLoader(range(4), persistent_workers=True), torch.tensor(1.0)
        except ValueError:
            loader, size = None, torch.tensor(0.0)
        """,
    # TLN901: somebody put the function back, or waits for the error
    "TLN901 put back": """
        torch.matrix_rank = lambda A: A.sum() * 7
        rank = torch.matrix_rank(torch.eye(3))
        """,
    "TLN901 the error is expected": """
        try:
            rank = torch.matrix_rank(torch.eye(3))
        except RuntimeError:
            rank = torch.tensor(-1)
        """,
    # TLN902: not torch's function
    "TLN902 replaced": """
        nn.init.xavier_uniform = lambda weight: weight.data.fill_(7.0)
        layer = nn.Linear(2, 3)
        nn.init.xavier_uniform(layer.weight)
        weight = layer.weight.detach()
        """,
    "TLN902 an attribute of another name": """
        class init:
            @staticmethod
            def xavier_uniform(weight):
                return weight * 0
        weight = init.xavier_uniform(torch.ones(2))
        """,
    # TLN903: which reduction it is depends on both arguments
    "TLN903 both": """
        loss = nn.MSELoss(size_average=False, reduce=False)(torch.ones(3), torch.zeros(3))
        """,
    "TLN903 a variable": """
        total = False
        loss = nn.MSELoss(size_average=total)(torch.ones(3), torch.zeros(3))
        """,
    "TLN903 a class of the file": """
        class MSELoss(nn.Module):
            def __init__(self, size_average):
                super().__init__()
                self.factor = 5 if size_average is False else 1
            def forward(self, x, y):
                return self.factor * (x - y).sum()
        loss = MSELoss(size_average=False)(torch.ones(3), torch.zeros(3))
        """,
    # TLN906: the private class is a class of its own
    "TLN906 asked for its instances": """
        from torch.optim.lr_scheduler import _LRScheduler
        optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.1)
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 3)
        print(isinstance(scheduler, _LRScheduler))
        """,
    # TLN102: somebody does read the graph again
    "TLN102 the caller": """
        def run(w):
            loss = (w * w).sum()
            loss.backward(retain_graph=True)
            return loss
        w = torch.ones(2, requires_grad=True)
        run(w).backward()
        """,
    "TLN102 a list": """
        w = torch.ones(2, requires_grad=True)
        losses = []
        for _ in range(3):
            loss = (w * w).sum()
            loss.backward(retain_graph=True)
            losses.append(loss)
        for loss in losses:
            loss.backward()
        """,
    "TLN102 a name in a text": """
        w = torch.ones(2, requires_grad=True)
        loss = (w * w).sum()
        loss.backward(retain_graph=True)
        exec("loss.backward()")
        """,
    "TLN102 globals": """
        w = torch.ones(2, requires_grad=True)
        loss = (w * w).sum()
        loss.backward(retain_graph=True)
        globals()["loss"].backward()
        """,
    "TLN102 an attribute": """
        class Run:
            def first(self, w):
                self.loss = (w * w).sum()
                self.loss.backward(retain_graph=True)
            def second(self):
                self.loss.backward()
        w = torch.ones(2, requires_grad=True)
        run = Run()
        run.first(w)
        run.second()
        """,
    "TLN102 a closure": """
        def run(w):
            loss = (w * w).sum()
            loss.backward(retain_graph=True)
            return lambda: loss.backward()
        w = torch.ones(2, requires_grad=True)
        run(w)()
        """,
    "TLN102 a generator": """
        def run(w):
            loss = (w * w).sum()
            loss.backward(retain_graph=True)
            yield loss
        w = torch.ones(2, requires_grad=True)
        for loss in run(w):
            loss.backward()
        """,
    "TLN102 a part of the graph": """
        w = torch.ones(2, requires_grad=True)
        y = w * w
        loss = y.exp().sum()
        loss.backward(retain_graph=True)
        parts = {"y": y}
        for name in list(parts):
            parts[name].sum().backward()
        """,
    "TLN102 a function chosen by its name": """
        def again(loss):
            loss.backward()
        w = torch.ones(2, requires_grad=True)
        loss = (w * w).sum()
        loss.backward(retain_graph=True)
        {"again": again}["again"](loss)
        """,
    # TLN106, TLN108, TLN206, TLN210, TLN310, TLN403, TLN501, TLN506, TLN510: what changes is what the finding is about
    "TLN106 printed": """
        w = torch.ones(2, requires_grad=True)
        total = 0.0
        for _ in range(3):
            loss = (w * w).sum()
            loss.backward()
            total += loss
        print(total, total.requires_grad)
        """,
    "TLN107 the number alone is wanted": """
        w = torch.ones(2, requires_grad=True)
        x = torch.ones(2, requires_grad=True)
        (slope,) = torch.autograd.grad((w * x * x).sum(), x)
        loss = (w * w).sum() + slope.norm()
        loss.backward()
        """,
    "TLN108 the graph is read again": """
        x = torch.ones(3, requires_grad=True)
        loss = (x**3).sum()
        (slope,) = torch.autograd.grad(loss, x, create_graph=True)
        print(slope)
        print(slope.requires_grad)
        """,
    "TLN206 printed": """
        p = torch.tensor(2.0, requires_grad=True)
        c = 2 * p
        c_copy = c.detach()
        c.mul_(2)
        print(c_copy)
        """,
    "TLN208 the other path shows the base": """
        def rows(bias, write):
            rows = bias.expand(4, 3)
            if write:
                rows += torch.ones(4, 3)
            return rows
        bias = torch.zeros(1, 3)
        shown = rows(bias, False)
        bias += 1
        print(shown)
        """,
    "TLN215 refused and handled": """
        queue = torch.arange(6.0)
        try:
            queue[:-1] = queue[1:]
        except RuntimeError:
            queue = torch.zeros(6)
        """,
    "TLN215 seen through a view": """
        history = torch.arange(12.0).view(2, 6)
        window = history[:, 2:]
        history[:, 1:] = history[:, :-1]
        print(window)
        """,
    "TLN210 read twice": """
        x = torch.tensor(2.0, requires_grad=True)
        (x**2).backward()
        first = x.grad
        (x**3).backward()
        print(first)
        """,
    "TLN302 counted": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = [nn.Linear(2, 2) for _ in range(2)]
            def forward(self, x):
                for layer in self.layers:
                    x = layer(x)
                return x
        net = Net()
        net(torch.ones(1, 2)).sum().backward()
        print(len(list(net.parameters())), net)
        """,
    "TLN309 with a hook": """
        layer = nn.Linear(2, 2)
        layer.register_forward_hook(lambda module, inputs, output: output * 0)
        y = layer.forward(torch.ones(1, 2))
        """,
    "TLN310 a module": """
        model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
        model[0].requires_grad = False
        model(torch.ones(1, 2)).sum().backward()
        print(model[0].weight.grad is None)
        """,
    "TLN310 a parameter": """
        model = nn.Linear(2, 2)
        for p in model.parameters():
            p.require_grad = False
        model(torch.ones(1, 2)).sum().backward()
        print(model.weight.grad is None)
        """,
    "TLN403": """
        model = nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model(torch.ones(1, 2)).sum().backward()
        optimizer.zero_grad()
        optimizer.step()
        """,
    "TLN501 differentiated twice": """
        class Square(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.x = x
                return x.square()
            @staticmethod
            def backward(ctx, grad):
                return 2 * ctx.x * grad
        w = torch.ones(2, requires_grad=True)
        y = Square.apply(w).sum()
        y.backward()
        y.backward()
        """,
    "TLN501 written in between": """
        class Square(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.x = x
                return x.square()
            @staticmethod
            def backward(ctx, grad):
                return 2 * ctx.x * grad
        w = torch.ones(2, requires_grad=True)
        y = Square.apply(w).sum()
        with torch.no_grad():
            w.mul_(2)
        y.backward()
        """,
    "TLN502 an object with a configuration": """
        class Detect(torch.autograd.Function):
            def __init__(self, scale):
                self.scale = scale
            def forward(self, x):
                return x * self.scale
        print(Detect(3).forward(torch.ones(2)))
        """,
    "TLN506 a second derivative that is right all the same": """
        class Twice(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                half = torch.full_like(x, 2.0)
                ctx.save_for_backward(half)
                return half * x
            @staticmethod
            def backward(ctx, grad):
                (half,) = ctx.saved_tensors
                return half * grad
        x = torch.tensor(2.0, requires_grad=True)
        (slope,) = torch.autograd.grad(Twice.apply(x) ** 2, x, create_graph=True)
        slope.backward()
        """,
    "TLN510 before an in-place activation": """
        net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(inplace=True), nn.Conv2d(4, 2, 3))
        shapes = []
        net[0].register_backward_hook(lambda module, into, out: shapes.append(len(into)))
        net(torch.rand(1, 3, 8, 8, requires_grad=True)).sum().backward()
        print(shapes)
        """,
    # TLN110, TLN111, TLN308: the exception is expected
    "TLN110 a method that is only named": """
        model = nn.Linear(2, 1)
        loss = model(torch.ones(4, 2)).mean()
        loss.backward
        """,
    "TLN110 tried": """
        try:
            with torch.no_grad:
                a = 1
        except (TypeError, AttributeError):
            print("a class is no context")
        """,
    "TLN111 tried": """
        w = torch.ones(3, requires_grad=True)
        try:
            a = w.numpy()
        except RuntimeError:
            print("it requires grad")
        """,
    "TLN111 suppressed": """
        import contextlib
        w = torch.ones(3, requires_grad=True)
        a = None
        with contextlib.suppress(RuntimeError):
            a = w.numpy()
        print(a)
        """,
    "TLN111 expected by a test": """
        import unittest
        w = torch.ones(3, requires_grad=True)
        unittest.TestCase().assertRaises(RuntimeError, lambda: w.numpy())
        with unittest.TestCase().assertRaises(RuntimeError):
            np.sqrt(w * 4)
        """,
    "TLN308 only where it is asked for": """
        class Net(nn.Module):
            def __init__(self, deep):
                self.deep = deep
                if deep:
                    self.layer = nn.Linear(2, 2)
        print(sorted(vars(Net(False))))
        """,
    "TLN308 returns before": """
        class Net(nn.Module):
            def __init__(self, deep):
                self.deep = deep
                if not deep:
                    return
                self.layer = nn.Linear(2, 2)
        print(sorted(vars(Net(False))))
        """,
    "TLN308 never called": """
        class Config(nn.Module):
            def __init__(self):
                self.training = "slow"
            def forward(self, x):
                return x
        print(vars(Config()))
        """,
    "TLN308 a base that wants arguments": """
        class Base(nn.Module):
            def __init__(self, size):
                super().__init__()
                self.size = size
        class Net(Base):
            def __init__(self):
                self.kind = "net"
            def forward(self, x):
                return x
        print(vars(Net()))
        """,
    "TLN308 tried": """
        try:
            class Net(nn.Module):
                def __init__(self):
                    self.layer = nn.Linear(2, 2)
                    super().__init__()
            Net()
        except AttributeError:
            print("too early")
        """,
    # TLN605
    "TLN605 an attribute set from outside": """
        class P(nn.Module):
            def __init__(self):
                super().__init__()
                self.offset = 1.0
            def forward(self, x):
                return torch.log(x.float() + self.offset)
        p = P()
        p.offset = 2.0
        print(p(torch.ones(1)))
        """,
    "TLN605 an attribute of a subclass": """
        class P(nn.Module):
            offset = 1.0
            def forward(self, x):
                return torch.log(x.float() + self.offset)
        class Q(P):
            offset = 2.0
        print(Q()(torch.ones(1)))
        """,
    "TLN605 a default": """
        def growth(x, one=1.0):
            return torch.exp(x.float()) - one
        print(growth(torch.ones(2)), growth(torch.ones(2), 2.0))
        """,
    "TLN605 a global that moves": """
        ONE = 1.0
        def growth(x):
            return torch.log(x.float() + ONE)
        first = growth(torch.ones(2))
        ONE = 2.0
        second = growth(torch.ones(2))
        """,
    "TLN605 infinite as it stands": """
        logits = torch.tensor([0.0, 200.0])
        p = torch.log(torch.softmax(logits, dim=0))
        d = torch.log(torch.sigmoid(torch.tensor([-200.0])))
        s = torch.log(1 + torch.exp(torch.tensor([200.0])))
        z = torch.tensor([[100.0, 90.0]]).exp().sum(1).log()
        print(p, d, s, z)
        """,
    "TLN605 softplus of doubles": """
        x = torch.tensor([25.0], dtype=torch.float64)
        y = (torch.log(1 + torch.exp(x)) - x) * 1e9
        print(y)
        """,
    "TLN605 an object of its own": """
        class Dual:
            def __init__(self, value):
                self.value = value
            def exp(self):
                return Dual(self.value.exp())
            def __sub__(self, other):
                return Dual(self.value - other)
        def growth(x):
            return x.exp() - 1
        print(growth(Dual(torch.ones(2))).value)
        """,
    "TLN605 whole numbers": """
        n = torch.tensor([1, 2, 3])
        print(torch.log(1 + n), torch.log(1 + n.to(torch.int16)).dtype)
        """,
    # TLN702
    "TLN702 matrices of its own": """
        class Lazy:
            def __init__(self, value):
                self.value = value
            def __matmul__(self, other):
                print("left")
                return Lazy(self.value @ other.value)
        A, B, v = Lazy(torch.ones(100, 100)), Lazy(torch.ones(100, 10)), Lazy(torch.ones(10, 1))
        y = A @ B @ v
        print(y.value.sum())
        """,
    "TLN702 half precision that overflows in one order": """
        A = torch.full((100, 100), 0.001, dtype=torch.float16)
        B = torch.full((100, 10), 60.0, dtype=torch.float16)
        v = torch.full((10, 1), 200.0, dtype=torch.float16)
        y = A @ B @ v
        print(y.isinf().any())
        """,
    "TLN702 a factor with a side effect": """
        B = torch.ones(100, 10)
        def last():
            B.zero_()
            return torch.ones(10, 1)
        y = torch.ones(100, 100) @ B @ last()
        print(y.sum())
        """,
    # TLN703
    "TLN703 infinite": """
        d = torch.tensor([1.0, 2.0])
        scaled = torch.diag(d) @ torch.tensor([[float("inf"), 1.0], [1.0, 1.0]])
        print(scaled)
        """,
    "TLN703 under autocast": """
        d = torch.rand(50)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            scaled = torch.diag(d) @ torch.rand(50, 3)
        print(scaled.dtype)
        """,
    # TLN706
    "TLN706 a list of another caller": """
        class Normalize(nn.Module):
            def __init__(self, mean):
                super().__init__()
                self.mean = torch.tensor(mean).view(-1, 1)
        a = Normalize(torch.tensor([0.1, 0.2]))
        def later():
            return Normalize([0.1, 0.2])
        print(later().mean)
        """,
    "TLN706 an annotation": """
        def lengths(length: torch.Tensor):
            return torch.tensor(length)
        print(lengths(3))
        """,
    "TLN706 a list in the first iteration": """
        x = [1.0, 2.0]
        for _ in range(2):
            y = torch.tensor(x)
            x = torch.rand(2)
        """,
    "TLN706 an attribute": """
        class Held:
            def __init__(self):
                self.x = torch.rand(2)
            def copy(self):
                return torch.tensor(self.x)
        held = Held()
        held.copy()
        held.x = [1.0, 2.0]
        print(held.copy())
        """,
    "TLN706 a mean of an array": """
        def mean(values):
            return torch.tensor(values.mean())
        print(mean(np.ones(3)), mean(torch.ones(3)))
        """,
    "TLN706 a default device": """
        torch.set_default_device("meta")
        x = torch.rand(2, device="cpu")
        y = torch.tensor(x)
        print(y.device)
        del y
        """,
    "TLN706 a product with an array": """
        def scaled(values):
            return torch.tensor(values * 2)
        print(scaled(torch.ones(2)), scaled([1.0]))
        """,
    "TLN706 transposed": """
        x = torch.rand(2, 3)
        y = torch.tensor(x.t())
        print(y.stride(), y.is_contiguous())
        """,
    "TLN706 expanded": """
        x = torch.rand(1, 3)
        y = torch.tensor(x.expand(4, 3))
        y += 1
        print(y.stride())
        """,
    # what other ways there are to the same
    "TLN102 a partial": """
        import functools
        w = torch.ones(2, requires_grad=True)
        loss = (w * w).sum()
        again = functools.partial(torch.autograd.backward, loss)
        loss.backward(retain_graph=True)
        again()
        print(w.grad)
        """,
    "TLN102 another thread": """
        import threading
        w = torch.ones(2, requires_grad=True)
        loss = (w * w).sum()
        def later():
            loss.backward()
        loss.backward(retain_graph=True)
        t = threading.Thread(target=later); t.start(); t.join()
        print(w.grad)
        """,
    "TLN102 a dict that is gone through": """
        w = torch.ones(2, requires_grad=True)
        d = dict(loss=(w * w).sum())
        d["loss"].backward(retain_graph=True)
        for k, v in d.items():
            v.backward()
        print(w.grad)
        """,
    "TLN102 a method kept for later": """
        w = torch.ones(2, requires_grad=True)
        loss = (w * w).sum()
        again = loss.backward
        loss.backward(retain_graph=True)
        again()
        print(w.grad)
        """,
    "TLN111 the caller expects it": """
        def f():
            w = torch.ones(3, requires_grad=True)
            (w * 2).sum().backward()
            return w.numpy()
        try:
            f()
        except RuntimeError:
            print("no")
        """,
    "TLN111 a class of its own": """
        class T(torch.Tensor):
            def numpy(self):
                return 3
        w = torch.ones(3).as_subclass(T).requires_grad_()
        print(w.numpy())
        """,
    "TLN111 frozen": """
        model = nn.Linear(2, 2)
        def freeze(m):
            for p in m.parameters():
                p.requires_grad = False
        freeze(model)
        a = model(torch.ones(1, 2)).numpy()
        model2 = nn.Linear(2, 2)
        model2.apply(lambda m: m.requires_grad_(False))
        b = model2.weight.numpy()
        b[:] = 3
        print(model2.weight.sum())
        """,
    "TLN111 a decorator expects it": """
        def safely(g):
            def run(*a):
                try:
                    return g(*a)
                except RuntimeError:
                    print("no")
            return run
        @safely
        def f():
            w = torch.ones(3, requires_grad=True)
            (w * 2).sum().backward()
            return w.numpy()
        f()
        """,
    "TLN110 the caller expects it": """
        def f():
            with torch.no_grad:
                return 1
        try:
            print(f())
        except (AttributeError, TypeError):
            print("no")
        """,
    "TLN308 the caller expects it": """
        class Net(nn.Module):
            def __init__(self):
                self.layer = nn.Linear(2, 2)
        try:
            Net()
        except AttributeError as e:
            print("no", e)
        """,
    "TLN308 initialised by `__new__`": """
        class Net(nn.Module):
            def __new__(cls):
                self = super().__new__(cls)
                nn.Module.__init__(self)
                return self
            def __init__(self):
                self.layer = nn.Linear(2, 2)
        print(Net())
        """,
    "TLN308 initialised by a mixin": """
        class Init:
            def __init__(self):
                nn.Module.__init__(self)
        class Net(nn.Module):
            def __init__(self):
                Init.__init__(self)
                self.layer = nn.Linear(2, 2)
        print(Net())
        """,
    "TLN605 other spellings": """
        x = torch.tensor([0.5])
        print((1 + x).log(), torch.log(input=1 + x), (x + 1).log().exp() - 1)
        """,
    "TLN605 under autocast": """
        x = torch.tensor([0.5]).bfloat16().float()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            a = torch.log(1 + x); b = torch.exp(x) - 1
        print(a.dtype, b.dtype)
        """,
    "TLN706 a new leaf": """
        x = torch.rand(2, requires_grad=True)
        y = torch.tensor(x * 2, requires_grad=True)
        print(y.requires_grad, y.is_leaf)
        """,
    "TLN706 another dtype": """
        x = torch.rand(2)
        y = torch.tensor(x, dtype=torch.long)
        print(y)
        """,
    "TLN706 every second column": """
        x = torch.rand(4, 6)
        y = torch.tensor(x[:, ::2])
        print(y.stride(), y.view(-1).shape)
        """,
}

KEPT: dict[str, str] = {
    "TLN215": """
        queue = torch.arange(6.0)
        queue[:-1] = queue[1:]
        """,
    "TLN102": """
        x = torch.ones(3, requires_grad=True)
        loss = (x * x).sum()
        loss.backward(retain_graph=True)
        """,
    "TLN110": """
        with torch.no_grad:
            a = 1
        """,
    "TLN111": """
        w = torch.ones(3, requires_grad=True)
        a = (w * 2).numpy()
        """,
    "TLN308": """
        class Net(nn.Module):
            def __init__(self, n):
                self.n = n
                self.layer = nn.Linear(n, 1)
            def forward(self, x):
                return self.layer(x)
        net = Net(3)
        """,
    "TLN605": """
        x = torch.rand(3, requires_grad=True)
        y = (torch.log(1 + x) + (torch.exp(x) - 1)).sum()
        y.backward()
        """,
    "TLN706": """
        batch = torch.rand(4, 3)
        noisy = torch.tensor(batch)
        """,
    "TLN804": """
        loader = torch.utils.data.DataLoader(range(4), batch_size=2, persistent_workers=True)
        batches = torch.stack(list(loader))
        """,
    "TLN901": """
        rank = torch.matrix_rank(torch.eye(3))
        """,
    "TLN902": """
        layer = nn.Linear(2, 3)
        torch.manual_seed(0)
        nn.init.xavier_uniform(layer.weight)
        """,
    "TLN903": """
        loss = nn.MSELoss(size_average=False)(torch.ones(3), torch.zeros(3))
        """,
    "TLN906": """
        torch.manual_seed(0)
        values = torch._lowrank.svd_lowrank(torch.eye(4), q=2)[1]
        """,
}

_HEAD = "import numpy as np\nimport torch\nfrom torch import nn\n\n"


def _fixed(program: str) -> fixpoint.Fixed:
    return fixpoint.fix(Decoded(program), lambda text: expectations.lint(text, strict=True), unsafe=False)


def _alike(one: gradients.Numbers, other: gradients.Numbers) -> bool:
    return len(one) == len(other) and all(
        a == b or (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=1e-5, abs_tol=1e-7)
        for a, b in zip(one, other, strict=True)
    )


def _compare(program: str, after: str) -> None:
    one, other = gradients.run(program), gradients.run(after)
    assert not one.raised, f"the program does not run as it stands: {one.raised}"
    assert other.raised == one.raised
    assert other.printed == one.printed
    for aspect in ("gradients", "leaves", "others"):
        before, now = getattr(one, aspect), getattr(other, aspect)
        assert before.keys() == now.keys()
        assert all(_alike(before[name], now[name]) for name in before), aspect


@pytest.mark.parametrize("name", ADVERSARIES)
def test_a_safe_fix_keeps_every_outcome(name: str) -> None:
    program = _HEAD + textwrap.dedent(ADVERSARIES[name]).strip() + "\n"
    result = _fixed(program)
    assert not result.notes
    _compare(program, result.text)


@pytest.mark.parametrize("code", KEPT)
def test_what_can_be_fixed_safely_is(code: str) -> None:
    program = _HEAD + textwrap.dedent(KEPT[code]).strip() + "\n"
    result = _fixed(program)
    assert result.applied, code
    before, after = gradients.run(program), gradients.run(result.text)
    assert not after.raised
    if not before.raised:
        _compare(program, result.text)


def test_every_rule_with_a_safe_fix_is_attacked() -> None:
    safe = {rule.code for rule in expectations.rules() if rule.fixes in ("safe", "both")}
    assert safe <= KEPT.keys()
    assert all(sum(name.startswith(code) for name in ADVERSARIES) >= 1 for code in safe)
