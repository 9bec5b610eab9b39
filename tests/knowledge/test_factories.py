"""
Creation functions against running torch: the same call, once executed and once described.
"""

from __future__ import annotations

import ast
import warnings
from typing import Any

import numpy
import pytest
import torch

from torchlint.knowledge.factories import find as factories
from torchlint.knowledge.shapes.infer import INTEGER, UNKNOWN, Sized

CALLS = """
torch.rand(2, 3)
torch.rand((2, 3))
torch.rand([2, 3])
torch.rand(())
torch.rand(4)
torch.rand(size=(2,))
torch.rand(2, 3, dtype=torch.float64)
torch.rand(2, requires_grad=True)
torch.rand(2, requires_grad=False)
torch.randn(2, 3, generator=None)
torch.randn(2, out=buffer)
torch.zeros(2, 3, dtype=torch.long)
torch.zeros(0)
torch.ones(3, dtype=torch.bool)
torch.ones(2, 2, dtype=torch.complex64)
torch.empty(2, 1, 3)
torch.empty_strided((2, 3), (3, 1))
torch.empty_permuted((2, 3), (1, 0))
torch.full((2,), 1)
torch.full((2, 3), True)
torch.full((2,), 1.5)
torch.full((), 1j)
torch.full((2,), 1, dtype=torch.float)
torch.full([2], 1.0, requires_grad=True)
torch.full(size=(2, 2), fill_value=3)
torch.zeros_like(plain)
torch.zeros_like(graph)
torch.zeros_like(graph, requires_grad=True)
torch.ones_like(whole)
torch.ones_like(whole, dtype=torch.float32)
torch.ones_like(input=plain)
torch.empty_like(mask)
torch.rand_like(graph)
torch.randn_like(plain)
torch.full_like(plain, 1)
torch.full_like(whole, 2)
torch.randint_like(whole, 5)
torch.randint_like(plain, 1, 5)
plain.new_zeros(2, 3)
plain.new_zeros((2, 3))
whole.new_ones(4)
whole.new_empty([1, 2], dtype=torch.float32)
plain.new_full((2,), 1)
plain.new_tensor([1, 2])
plain.new_tensor(graph)
plain.new_tensor([1.0], requires_grad=True)
plain.new(2, 3)
plain.new([2, 3])
other.new(plain)
plain.new()
torch.tensor(1)
torch.tensor(1.5)
torch.tensor(True)
torch.tensor(1j)
torch.tensor([])
torch.tensor(())
torch.tensor([[], []])
torch.tensor([1, 2, 3])
torch.tensor([1, 2.0])
torch.tensor([True, 2])
torch.tensor([True, False])
torch.tensor([1, 1j])
torch.tensor([[1, 2], [3, 4.0]])
torch.tensor([[[1], [2]]])
torch.tensor((1, 2))
torch.tensor(range(4))
torch.tensor([1, 2], dtype=torch.float32)
torch.tensor([1.0, 2.0], requires_grad=True)
torch.tensor(plain)
torch.tensor(graph)
torch.tensor(graph, requires_grad=True)
torch.tensor(whole)
torch.tensor([graph[0], graph[1]])
torch.tensor([plain[:1], plain[:1]])
torch.tensor([[plain[0], 1], [2, 3]])
torch.tensor(data=[1, 2])
torch.as_tensor([1, 2])
torch.as_tensor(2.5)
torch.as_tensor(plain)
torch.as_tensor(graph)
torch.as_tensor(data=graph)
torch.as_tensor([graph[0], graph[1]])
torch.as_tensor(plain, dtype=torch.long)
torch.asarray([1, 2.0])
torch.asarray(plain)
torch.asarray(graph)
torch.asarray(graph, copy=True)
torch.scalar_tensor(3)
torch.scalar_tensor(3, dtype=torch.long)
torch.from_numpy(array)
torch.frombuffer(raw, dtype=torch.int32)
torch.arange(5)
torch.arange(5.0)
torch.arange(1, 5)
torch.arange(1, 5, 2)
torch.arange(0, 1, 0.3)
torch.arange(5, 0, -2)
torch.arange(end=4)
torch.arange(5, dtype=torch.float32)
torch.arange(5.0, requires_grad=True)
torch.range(1, 4)
torch.linspace(0, 1, 5)
torch.linspace(0, 1, steps=7)
torch.linspace(start=0, end=1, steps=7, requires_grad=True)
torch.linspace(0, 1, 5, dtype=torch.long)
torch.logspace(0, 1, 5)
torch.eye(3)
torch.eye(3, 4)
torch.eye(3, requires_grad=True)
torch.randperm(4)
torch.randint(5, (2, 3))
torch.randint(0, 5, (2, 3))
torch.randint(0, 5, [2])
torch.randint(high=5, size=(2,))
torch.randint(low=0, high=5, size=(2,))
torch.randint(5, size=(3,))
torch.randint(0, 5, (2,), dtype=torch.float32)
torch.normal(0.0, 1.0, (2, 3))
torch.normal(0.0, 1.0, size=(2, 3))
torch.normal(graph, 1.0)
torch.tril_indices(3, 3)
torch.tril_indices(4, 3, -1)
torch.tril_indices(2, 5, 1)
torch.triu_indices(3, 4)
torch.triu_indices(3, 4, 1)
torch.triu_indices(4, 3, -2)
torch.hann_window(4)
torch.kaiser_window(5)
torch.signal.windows.cosine(6)
torch.fft.fftfreq(5)
torch.fft.rfftfreq(5)
torch.fft.rfftfreq(6)
torch.Tensor()
torch.Tensor(3)
torch.Tensor(2, 3)
torch.Tensor([1, 2])
torch.Tensor([[1, 2], [3, 4]])
torch.Tensor([1, True])
torch.Tensor((1.0, 2.0))
torch.Tensor((2, 3))
torch.Tensor(sizes)
torch.Tensor(plain)
torch.Tensor(graph)
torch.Tensor([graph[0], graph[1]])
torch.FloatTensor([1, 2])
torch.FloatTensor(graph)
torch.DoubleTensor(2)
torch.LongTensor([1, 2])
torch.LongTensor(2, 2)
torch.BoolTensor([True])
torch.ByteTensor([1])
torch.autograd.Variable(plain)
torch.autograd.Variable(graph)
torch.autograd.Variable(graph, requires_grad=True)
torch.autograd.Variable(plain, True)
torch.autograd.Variable(data=graph)
torch.nn.Parameter(plain)
torch.nn.Parameter(graph)
torch.nn.Parameter(plain, requires_grad=False)
torch.nn.Parameter(whole, False)
torch.nn.Parameter()
torch.nn.parameter.Parameter(data=plain)
""".strip().splitlines()

KNOWN_LITTLE = {  # calls whose shape or dtype class is unknown on purpose
    "torch.Tensor((2, 3))": "shape",
    "torch.Tensor(sizes)": "shape",
    "torch.from_numpy(array)": "shape dtype",
    "torch.frombuffer(raw, dtype=torch.int32)": "shape",
    "torch.ByteTensor([1])": "dtype",
    "torch.normal(graph, 1.0)": "dtype",
}


def namespace() -> dict[str, Any]:
    plain = torch.rand(3)
    return {
        "torch": torch,
        "plain": plain,
        "other": torch.rand(2),
        "graph": torch.rand(3, requires_grad=True) * 1,
        "whole": torch.tensor([1, 2, 3]),
        "mask": torch.tensor([True, False]),
        "buffer": torch.empty(2),
        "array": numpy.ones(3),
        "raw": bytearray(b"abcdefgh"),
        "sizes": torch.Size([2, 3]),
    }


def class_of(dtype: torch.dtype) -> str:
    if dtype == torch.bool:
        return "bool"
    return "complex" if dtype.is_complex else "float" if dtype.is_floating_point else "int"


def described(value: Any) -> object:
    if isinstance(value, torch.Tensor):
        return Sized(tuple(value.shape), class_of(value.dtype))
    if isinstance(value, torch.dtype):
        return str(value)
    if isinstance(value, torch.Size):
        return tuple(value)
    if isinstance(value, (list, tuple)):
        return type(value)(described(item) for item in value)
    if value is None or isinstance(value, (bool, int, float, complex, str, range)):
        return value
    return UNKNOWN


def read(call: str, names: dict[str, Any]) -> tuple[str, list[Any], dict[str, Any]]:
    """The spelling and the live arguments of a call; a method's receiver comes first."""
    node = ast.parse(call, mode="eval").body
    assert isinstance(node, ast.Call)
    function = ast.unparse(node.func)
    args = [eval(ast.unparse(one), names) for one in node.args]
    keywords = {str(one.arg): eval(ast.unparse(one.value), names) for one in node.keywords}
    root, _, method = function.rpartition(".")
    if root in names and isinstance(names[root], torch.Tensor):
        return f"torch.Tensor.{method}", [names[root], *args], keywords
    return function, args, keywords


def same_memory(a: Any, b: Any) -> bool:
    if isinstance(b, numpy.ndarray):
        return bool(a.data_ptr() == b.ctypes.data)
    if isinstance(b, bytearray):
        view = torch.frombuffer(b, dtype=torch.uint8)
        return bool(a.data_ptr() == view.data_ptr())
    return isinstance(b, torch.Tensor) and b.numel() > 0 and a.data_ptr() == b.data_ptr()


@pytest.mark.parametrize("call", CALLS)
def test_created_tensor_is_as_described(call: str) -> None:
    names = namespace()
    spelling, args, keywords = read(call, names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # not eval(call): the description must be given the very objects that the call gets
        function = getattr(args[0], spelling.rpartition(".")[2]) if spelling.startswith("torch.Tensor.") else None
        made = function(*args[1:], **keywords) if function else eval(spelling, names)(*args, **keywords)
    factory = factories.find(spelling)
    assert factory is not None
    created = factory.create([described(one) for one in args], {key: described(one) for key, one in keywords.items()})

    little = KNOWN_LITTLE.get(call, "").split()
    if "shape" in little:
        assert created.shape in (None, (None,))
    else:
        assert created.shape == tuple(made.shape)
    assert created.dtype == (None if "dtype" in little else class_of(made.dtype))
    if created.requires_grad is not None:
        assert created.requires_grad == made.requires_grad
    else:
        assert created.graph == "kept" or "out" in keywords

    given: dict[int, Any] = {
        **dict(enumerate(args)),
        **{factory.parameters.index(key): one for key, one in keywords.items() if key in factory.parameters},
    }
    sharing = [place for place, one in given.items() if same_memory(made, one)]
    assert created.returns_out == ("out" in keywords and made is keywords["out"])
    identical = [place for place, one in given.items() if made is one]
    if created.certain:
        assert sharing == [one for one in {created.shares_memory_with, created.returns_argument} if one is not None]
        assert identical == ([] if created.returns_argument is None else [created.returns_argument])
    else:
        assert created.shares_memory_with is not None

    tensors = [one for one in torch.utils._pytree.tree_leaves(list(given.values())) if isinstance(one, torch.Tensor)]
    if any(one.grad_fn is not None for one in tensors) and "like" not in spelling:
        assert created.graph == ("kept" if made.grad_fn is not None else "cut")
    if created.graph == "none":
        assert made.is_leaf


@pytest.mark.parametrize("call", ["torch.autograd.Variable(plain)", "torch.nn.Parameter(graph)", "torch.Tensor(plain)"])
def test_shared_memory_means_a_shared_version_counter(call: str) -> None:
    names = namespace()
    spelling, args, _ = read(call, names)
    factory = factories.find(spelling)
    assert factory is not None
    assert factory.create([described(args[0])], {}).shares_memory_with == 0
    made = eval(call, names)
    before = args[0]._version
    with torch.no_grad():
        made.add_(1)
    assert args[0]._version == before + 1


@pytest.mark.parametrize(
    ("spelling", "positional", "keywords", "shape", "dtype"),
    [
        ("torch.rand", [UNKNOWN], {}, None, "float"),
        ("torch.rand", [INTEGER], {}, (None,), "float"),
        ("torch.rand", [UNKNOWN, 3], {}, (None, 3), "float"),
        ("torch.rand", [(2, None)], {}, (2, None), "float"),
        ("torch.rand", [2], {"dtype": UNKNOWN}, (2,), None),
        ("torch.full", [(2,), UNKNOWN], {}, (2,), None),
        ("torch.full", [(2,), INTEGER], {}, (2,), "int"),
        ("torch.tensor", [UNKNOWN], {}, None, None),
        ("torch.tensor", [INTEGER], {}, (), "int"),
        ("torch.tensor", [[UNKNOWN, 1]], {}, None, None),
        ("torch.tensor", [[1, UNKNOWN]], {}, (2,), None),
        ("torch.arange", [INTEGER], {}, (None,), "int"),
        ("torch.arange", [UNKNOWN], {}, (None,), None),
        ("torch.linspace", [0, UNKNOWN, 5], {}, (5,), None),
        ("torch.randint", [0, 5, UNKNOWN], {}, None, "int"),
        ("torch.randint", [0, UNKNOWN], {}, None, "int"),
        ("torch.Tensor", [UNKNOWN], {}, None, "float"),
        ("torch.Tensor", [2, UNKNOWN], {}, (2, None), "float"),
        ("torch.eye", [UNKNOWN, 3], {}, (None, 3), "float"),
        ("torch.zeros_like", [UNKNOWN], {}, None, None),
        ("torch.Tensor.new_zeros", [UNKNOWN, 2, 3], {}, (2, 3), None),
        ("torch.nn.Parameter", [UNKNOWN], {}, None, None),
    ],
)
def test_unknown_arguments_leave_the_rest_known(
    spelling: str, positional: list[object], keywords: dict[str, object], shape: object, dtype: str | None
) -> None:
    factory = factories.find(spelling)
    assert factory is not None
    created = factory.create(positional, keywords)
    assert (created.shape, created.dtype) == (shape, dtype)


def test_requires_grad_is_unknown_when_the_flag_is() -> None:
    factory = factories.find("torch.rand")
    assert factory is not None
    assert factory.create([2], {"requires_grad": UNKNOWN}).requires_grad is None


@pytest.mark.parametrize("spelling", sorted(factories.spellings()))
def test_every_spelling_exists_in_torch(spelling: str) -> None:
    value: Any = torch
    for part in spelling.split(".")[1:]:
        value = getattr(value, part)
    assert callable(value) or isinstance(value, type)


@pytest.mark.parametrize(
    "name", sorted(f"torch.{name}" for name in dir(torch) if isinstance(getattr(torch, name), torch.dtype))
)
def test_dtype_classes(name: str) -> None:
    dtype = getattr(torch, name.removeprefix("torch."))
    have = factories.dtype_class(name)
    if have is None:  # sub-byte, quantized and byte types: unknown
        assert dtype.itemsize == 1 or str(dtype).startswith(("torch.q", "torch.bits", "torch.uint", "torch.int"))
    else:
        assert factories.is_dtype(name)
        assert have == class_of(dtype)


@pytest.mark.parametrize(
    "method", ["float", "double", "half", "bfloat16", "int", "long", "short", "char", "bool", "cfloat", "cdouble"]
)
def test_conversion_methods(method: str) -> None:
    assert factories.conversion(method) == class_of(getattr(torch.ones(2), method)().dtype)


def test_what_is_no_factory_is_not_found() -> None:
    assert factories.find("torch.add") is None
    assert factories.conversion("byte") is None
    assert factories.dtype_class("numpy.float32") is None
