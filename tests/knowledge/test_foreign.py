"""What the standard library and NumPy make of numbers and tensors is what it is said to make."""

from __future__ import annotations

import importlib
import math
import sys

import pytest
import torch

from torchlint.knowledge import foreign

KINDS = {"int": int, "float": float, "bool": bool}


def resolved(qualified: str) -> object:
    module, _, name = qualified.rpartition(".")
    return getattr(importlib.import_module(module), name)


@pytest.mark.parametrize("qualified", sorted(foreign.CONSTANTS))
def test_constants_are_what_they_are_called(qualified: str) -> None:
    value = resolved(qualified)
    assert value == foreign.CONSTANTS[qualified] or math.isnan(float(str(value)))


@pytest.mark.parametrize("name", [each for each in dir(math) if callable(getattr(math, each))])
def test_functions_of_math_make_numbers_of_tensors(name: str) -> None:
    whole, real = torch.tensor(3), torch.tensor(0.5, requires_grad=True)
    given: list[tuple[object, ...]] = [(real,), (whole,), (real, 2.0), (real, 2), (whole, 2), ([real, real],)]
    given += [([real], [real]), (0.5,), (3,), (3, 2)]
    made = set()
    for arguments in given:
        try:
            made.add(type(getattr(math, name)(*arguments)))
        except (TypeError, ValueError):
            continue
    kind = foreign.result(f"math.{name}")
    if kind is None:
        assert made - {int, float, bool}, "a number whatever it is given, and not known"
    else:
        assert made == {KINDS[kind]}


@pytest.mark.parametrize("name", ["isclose", "sqrt", "floor"])
def test_what_is_known_is_known_by_its_name(name: str) -> None:
    assert foreign.result(f"math.{name}") is not None
    assert foreign.result(f"torch.{name}") is None


@pytest.mark.parametrize("qualified", ["torch.finfo", "torch.iinfo"])
def test_limits_of_dtypes(qualified: str) -> None:
    info = torch.finfo(torch.float16) if qualified == "torch.finfo" else torch.iinfo(torch.int8)
    names = [each for each in dir(info) if not each.startswith("_")]
    assert names
    for name in names:
        kind = foreign.limit(qualified, name)
        assert type(getattr(info, name)).__name__ == kind
    assert foreign.limit("torch.nn", "max") is None


def test_numpy_makes_numbers_of_numbers() -> None:
    for name in ("sqrt", "log", "ceil", "maximum", "power"):
        assert foreign.result_for_numbers(f"numpy.{name}")
        function = resolved(f"numpy.{name}")
        assert callable(function)
        made = function(2.0, 3.0) if name in ("maximum", "power") else function(2.0)
        scaled = torch.ones(2, requires_grad=True) * made
        assert scaled.grad_fn is not None  # a number to torch, and no array


def test_who_knows_no_tensors() -> None:
    assert foreign.is_foreign("numpy.zeros")
    assert foreign.is_foreign("logging.getLogger")
    for name in ("random.choice", "math.prod", "copy.copy", "torch.zeros", "itertools.chain", "numpy", "mine.numpy"):
        assert not foreign.is_foreign(name), name


@pytest.mark.parametrize("qualified", sorted(foreign.NUMBERS))
def test_every_function_exists(qualified: str) -> None:
    if qualified.startswith("math.") and not hasattr(math, qualified[5:]):
        assert sys.version_info < (3, 11), "newer releases of Python have it"
        return
    module, _, name = qualified.rpartition(".")
    assert callable(getattr(importlib.import_module(module), name))
