"""
What code that the model does not follow may have done: two-sided, with torch as judge.

The programs are the bodies of the functions of `unknown_code.py`; what `somelib` does there is written here, where the
linter does not find it.
"""

from __future__ import annotations

import ast
import contextlib
import io
import sys
import textwrap
import types
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import expectations
import pytest
import torch
from torch import nn

from torchlint.condition import without_reflection


def _programs() -> Iterator[object]:
    text = (Path(__file__).parent / "unknown_code.py").read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    for function in ast.parse(text).body:
        if isinstance(function, ast.FunctionDef):
            body = lines[function.lineno : function.end_lineno]
            yield pytest.param(textwrap.dedent("".join(body)), id=function.name)


PROGRAMS = list(_programs())


def _freeze(parameters: nn.Module | Iterable[torch.Tensor], *_: object) -> bool:
    for parameter in parameters.parameters() if isinstance(parameters, nn.Module) else parameters:
        parameter.requires_grad_(False)
    return True


class _Freezer:
    def __init__(self, module: nn.Module) -> None:
        self.module = module

    def run(self) -> None:
        _freeze(self.module)


class _Base(nn.Module):
    def freeze(self) -> None:
        _freeze(self)


class _Switched:
    live: bool

    def switch_on(self) -> None:
        self.live = True


class _Block(nn.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.inner = nn.Linear(size, size)


class _Meter:
    def update(self, *_: object) -> None:
        pass

    add_scalar = step = update


class _Bar:
    def __init__(self, values: Iterable[object]) -> None:
        self.values = values

    def __iter__(self) -> Iterator[object]:
        return iter(self.values)

    def set_postfix(self, **_: object) -> None:
        pass


def _frozen(*values: object) -> object:
    for each in values:
        if isinstance(each, nn.Module | torch.Tensor):
            each.requires_grad_(False)
    return values[-1] if values else None


class _Keeper:
    """Freezes all that it is given."""

    def __init__(self, *values: object) -> None:
        _frozen(*values)

    def __init_subclass__(cls) -> None:
        _frozen(*vars(cls).values())

    def __call__(self, value: object) -> object:
        return value

    def __setattr__(self, name: str, value: object) -> None:
        _frozen(value)

    def __setitem__(self, name: str, value: object) -> None:
        _frozen(value)

    def __contains__(self, value: object) -> bool:
        return bool(_frozen(value))

    def __lshift__(self, value: object) -> None:
        _frozen(value)


class _Settings:
    """Turns the switches of classes below it."""

    def __init_subclass__(cls) -> None:
        for name, value in [*vars(cls).items()]:
            if isinstance(value, bool):
                setattr(cls, name, not value)


class _Computing:
    """Computes what methods of classes below it give anew, and makes Parameters of tensors that are set."""

    def __init_subclass__(cls) -> None:
        _computing(cls)

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, nn.Parameter(value.detach()) if isinstance(value, torch.Tensor) else value)


def _computing(cls: type) -> type:
    """A class of which each method gives a leaf that requires grad, for backward to begin from."""
    for base in cls.__mro__:
        for name, method in [*vars(base).items()]:
            if base.__module__ == "__main__" and isinstance(method, types.FunctionType) and not name.startswith("__"):
                setattr(cls, name, _anew(method))
    return cls


def _handing(function: Callable[..., object]) -> Callable[..., object]:
    def handed(*values: object) -> object:
        _frozen(*values)
        return function(*values)

    return handed


def _anew(method: Callable[..., object]) -> Callable[..., object]:
    def anew(*values: object) -> object:
        result = method(*values)
        return result.detach().requires_grad_() if isinstance(result, torch.Tensor) else result

    return anew


def _quiet(function: Callable[..., object]) -> object:
    return torch.no_grad()(function)


def _thawing(method: Callable[..., object]) -> Callable[..., object]:
    def thawed(self: object) -> object:
        vars(self)["w"].requires_grad_()
        return method(self)

    return thawed


def _silence(given: object) -> None:
    """Puts other methods into whatever it gets at."""
    if isinstance(given, types.FunctionType):
        made = given()
        return _silence(made if isinstance(made, (type, dict)) else type(made))
    if isinstance(given, types.MethodType):
        return _silence(given.__self__)
    for each in given.values() if isinstance(given, dict) else given if isinstance(given, (list, tuple)) else ():
        _silence(each)
    own = given if isinstance(given, type) else type(given)
    for each in own.__mro__:
        for held in list(vars(each).values()) if each.__module__ == "__main__" else ():
            if isinstance(held, type):
                _silence(held)
    if isinstance(given, type) and issubclass(given, nn.Module):
        given.__init__ = nn.Module.__init__
    elif isinstance(given, nn.ReLU):
        given.inplace = False
    for held in list(vars(given).values()) if type(given).__module__ == "__main__" else ():
        _silence(held) if type(held).__module__ == "__main__" or isinstance(held, type) else None
    for each in (given, *(given.__mro__ if isinstance(given, type) else ())):
        if hasattr(each, "step") and (not isinstance(each, type) or "step" in vars(each)):
            each.step = lambda *_: None
    return None


class _Named:
    def __set_name__(self, owner: type, name: str) -> None:
        _silence(owner)


class _Catalogue:
    register = staticmethod(_silence)


_LATER: list[Callable[[], None]] = []


def _somelib() -> types.ModuleType:
    module = types.ModuleType("somelib")
    module.__dict__.update(
        freeze=_freeze, prepare=_freeze, quantize_=_freeze, set_requires_grad=_freeze, Freezer=_Freezer, Base=_Base,
        Block=_Block, AverageMeter=_Meter, Logger=_Meter, Net=nn.Identity, f=torch.sin,
        trim=lambda states: states[-1].detach_(), loss_fn=lambda a, b: (a - b).sum(),
        Lion=torch.optim.SGD, clip_gradients=lambda parameters, most: None, evaluate=lambda module: None,
        adjust_lr=lambda group, epoch: 0.1, load_checkpoint=lambda module, path: None,
        summary=lambda module, size: None,
        EarlyStopping=_Meter, tqdm=_Bar, inference=_quiet, run=lambda function: function(),
        minimise=lambda closure: closure(), train=lambda w: (w**2).sum().backward(), combine=lambda *ws: sum(ws),
        same=lambda *values: values[-1], wrap=lambda function: function, size=lambda: 0,
        Keeper=_Keeper, frozen=_frozen, found=_Keeper(), freeze_held=lambda cls: _frozen(cls.held),
        frozen_default=lambda function: _frozen(*function.__defaults__),
        whole=torch.int64, Switched=_Switched, switch_on=_Switched.switch_on,
        thawing=_thawing, thaw=lambda w: w.requires_grad_(), enabling=lambda mode: torch.set_grad_enabled(True),
        flag=False, scalar=torch.rand((), requires_grad=True),
        listed=lambda module: list(module.parameters()),
        keeping=torch.autograd.graph.save_on_cpu, mutating=torch.autograd.graph.allow_mutation_on_saved_tensors,
        session=torch.no_grad, inferring=torch.inference_mode, load=lambda: {"w": torch.rand(3, requires_grad=True)},
        handing=_handing, Refused=RuntimeError, Settings=_Settings, nothing=lambda *values: None,
        Computing=_Computing, computing=_computing, silence=_silence, Named=_Named, catalogue=_Catalogue(),
        listed_classes=[], named_classes={}, silence_held=lambda: _silence(sys.modules["somelib"].held),
        later=lambda function: _LATER.append(function) or function, run_later=lambda: _LATER.pop()(),
        methods={"step": lambda *given: None}, equip=lambda members: members.update(step=lambda *given: None),
        name="step", passing=lambda *given: None, freezing=lambda *given: [_freeze(*given)].clear(),
        overwriting=lambda w: w.add_(w), untrained={"requires_grad": False}, doubles={"dtype": torch.float64},
    )  # fmt: skip
    return module


@pytest.mark.parametrize("program", PROGRAMS)
def test_as_marked(program: str) -> None:
    expectations.check(program, strict="# strict: [" in program)


@pytest.mark.parametrize("program", PROGRAMS)
def test_torch_agrees(program: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "somelib", _somelib())
    # the condition that such a warning names holds in these programs, but that elsewhere changes nothing
    fails = any(
        finding.level.value == "error" or (finding.code == "TLN201" and without_reflection(finding.conditions))
        for finding in expectations.lint(expectations.stripped(program)).findings
    )
    raised = pytest.raises((RuntimeError, AttributeError)) if fails else contextlib.nullcontext()
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), raised:
        warnings.simplefilter("ignore")
        exec(compile(expectations.stripped(program), "program.py", "exec"), {"__name__": "__main__"})
    torch.set_grad_enabled(True)
