"""
What the program's own code asks of its arguments where it refuses them: an `assert`, a `raise` under its conditions, a
table that has no such key.

Runs inside the child. Reads the statement that raised and evaluates parts of its condition in the frame that it raised
in; changes nothing.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import linecache
import math
import os
import re
from collections.abc import Iterator, Mapping
from types import FrameType
from typing import Any

import torch
from torch import nn

from torchlint.verify import by_name, handed_on, kinds
from torchlint.verify.kinds import Frame, Wish, text_of

_CHOICES = 4
"""So many of the values that would do are tried."""
_TORCH = os.path.dirname(torch.__file__) + os.sep


def wishes(error: Exception, given: Mapping[str, Any]) -> list[Wish]:
    """What a refusal asks of the arguments that were given, the likeliest first."""
    place = raised_in(error)
    if place is None:
        return []
    frame, line = place
    tree = parsed(frame.f_code.co_filename)
    chain = [] if tree is None else around(tree, line)
    if not chain:  # code of which there is no text
        return []
    at = Frame(frame, given)
    found: list[Wish] = []
    if isinstance(error, KeyError) and chain:
        found += by_name.keys(chain[-1], at, error)
    if isinstance(error, IndexError) or "invalid data type 'str'" in str(error):
        found += _indices(chain[-1], at)
    taken_apart = re.search(r"to unpack \(expected (\d+)", str(error)) if isinstance(error, ValueError) else None
    if taken_apart is not None and chain:
        found += _taken_apart(chain[-1], int(taken_apart[1]), at)
    if isinstance(error, (TypeError, AttributeError)) and chain:
        found += kinds.asked(chain[-1], str(error), at)
        found += by_name.attributes(chain[-1], at)
    if isinstance(error, (TypeError, AttributeError)) and "NoneType" in str(error):
        found += _nothing(chain[-1], at)
    if "Boolean value of Tensor" in str(error):
        found += _tested(chain[-1], at)
    if isinstance(error, TypeError):
        found += handed_on.keywords(chain[-1], str(error), at)
    if isinstance(error, (ValueError, KeyError, TypeError, NotImplementedError, AssertionError)):
        found += handed_on.words(chain[-1], str(error), at)
    if isinstance(error, UnboundLocalError):
        found += _unbound(chain, str(error), at)
    refuses = bool(chain) and _refuses(chain[-1])
    for node, inside in zip(chain, [*chain[1:], None], strict=True):
        condition = _asserted(node)
        if condition is not None:
            found += _wanted(condition, True, at)
        elif isinstance(node, ast.If) and refuses:
            found += _wanted(node.test, inside not in node.body, at)
    return list(_distinct(found))


def _asserted(statement: ast.stmt) -> ast.expr | None:
    """What a statement asserts."""
    match statement:
        case ast.Assert(test):
            return test
        case ast.Expr(ast.Call(ast.Attribute(ast.Name("torch"), "_assert"), [test, *_])):
            return test
    return None


def _refuses(statement: ast.stmt) -> bool:
    """Whether it raises, whatever the arguments are: `raise`, `assert False`."""
    condition = _asserted(statement)
    return isinstance(statement, ast.Raise) or (isinstance(condition, ast.Constant) and not condition.value)


def at_a_layer(error: Exception, given: Mapping[str, Any]) -> list[Wish]:
    """What the layer at which it was refused takes, of the argument that it was called with, if that is one."""
    trace = error.__traceback__
    while trace is not None:
        local = trace.tb_frame.f_locals
        layer, value = local.get("self"), local.get("input", local.get("query"))
        if isinstance(layer, nn.Module) and isinstance(value, torch.Tensor):
            taken = _taken(layer, value)
            if taken is not None:
                return [Wish(name, key, *taken) for name, key in _held(value, given)]
        trace = trace.tb_next
    return []


def _held(value: torch.Tensor, given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, made in given.items():
        if made is value:
            yield name, ""
        elif isinstance(made, dict):
            yield from ((name, key) for key, each in made.items() if each is value)


def _taken(layer: nn.Module, value: torch.Tensor) -> tuple[str, Any, int] | None:
    """What a layer takes that a tensor is not."""
    shape = tuple(value.shape)
    if isinstance(layer, nn.Embedding):
        return ("dtype", torch.int64, 0) if value.is_floating_point() else None
    if isinstance(layer, nn.Linear):
        return _sized(shape, -1, layer.in_features)
    if isinstance(layer, nn.RNNBase):
        return _sized(shape, -1, layer.input_size)
    if isinstance(layer, nn.MultiheadAttention):
        return _sized(shape, -1, layer.embed_dim)
    if isinstance(layer, nn.LayerNorm):
        wanted = tuple(layer.normalized_shape)
        return None if shape[-len(wanted) :] == wanted else ("shape", ((shape[: -len(wanted)] or (2,)) + wanted), 0)
    for kind, rank in ((nn.Conv1d, 3), (nn.Conv2d, 4), (nn.Conv3d, 5)):
        if isinstance(layer, kind) and not isinstance(layer, nn.modules.conv._ConvTransposeNd):
            return _sized(shape, 1, layer.in_channels) if len(shape) == rank else ("rank", rank, 0)
    if isinstance(layer, nn.GroupNorm) and len(shape) > 1:
        return _sized(shape, 1, layer.num_channels)
    if isinstance(layer, nn.modules.batchnorm._NormBase) and len(shape) > 1:
        return _sized(shape, 1, layer.num_features)
    return None


def _sized(shape: tuple[int, ...], dimension: int, size: int) -> tuple[str, Any, int] | None:
    return None if shape and shape[dimension] == size else ("size", size, dimension)


def _distinct(found: list[Wish]) -> Iterator[Wish]:
    seen = set()
    for each in reversed(found):  # the innermost condition first
        if text_of(each) not in seen:
            seen.add(text_of(each))
            yield each


def spells(error: Exception, name: str) -> bool:
    """Whether the statement that raised has that name in its text: it is no argument's that the name is asked for."""
    place = raised_in(error)
    tree = None if place is None else parsed(place[0].f_code.co_filename)
    chain = [] if tree is None or place is None else around(tree, place[1])
    return not chain or name in ast.unparse(chain[-1])


def raised_in(error: Exception) -> tuple[FrameType, int] | None:
    """The innermost frame that is of the program, and its line."""
    return next(iter(frames(error)[-1:]), None)


def frames(error: Exception) -> list[tuple[FrameType, int]]:
    """The frames that are of the program, the innermost last, each with its line."""
    found = []
    trace = error.__traceback__
    while trace is not None:
        file, module = trace.tb_frame.f_code.co_filename, str(trace.tb_frame.f_globals.get("__name__", ""))
        if not file.startswith((_TORCH, "<")) and not module.startswith("torchlint."):
            found.append((trace.tb_frame, trace.tb_lineno))
        trace = trace.tb_next
    return found


@functools.cache
def parsed(filename: str) -> ast.Module | None:
    try:
        return ast.parse("".join(linecache.getlines(filename)))
    except (SyntaxError, ValueError):
        return None


@functools.lru_cache(maxsize=512)
def around(tree: ast.AST, line: int) -> list[ast.stmt]:
    """The statements around a line, from the outermost to the one that is there."""
    found: list[ast.stmt] = []
    body: list[ast.AST] = [tree]
    while body:
        inner = [
            each
            for node in body
            for each in ast.iter_child_nodes(node)
            if isinstance(each, (ast.stmt, ast.ExceptHandler, ast.match_case))
            and getattr(each, "lineno", 0) <= line <= (getattr(each, "end_lineno", 0) or line)
        ]
        found += [each for each in inner if isinstance(each, ast.stmt)]
        body = list(inner)
    return found


def _indices(statement: ast.stmt, at: Frame) -> Iterator[Wish]:
    """How long what is indexed would have to be."""
    for node in ast.walk(statement):
        if not isinstance(node, ast.Subscript):
            continue
        try:
            several, index = at.value(node.value), at.value(node.slice)
        except Exception:
            continue
        if isinstance(index, str) and isinstance(several, torch.Tensor):
            yield from (Wish(*found, "kind", "dict") for found in at.argument(node.value))
            yield from (Wish(name, "", "kind", "dicts") for name, made in at.given.items() if _part_of(several, made))
        if isinstance(several, (list, tuple)) and type(index) is int and index >= len(several):
            match node.value:
                case ast.Attribute(tensor, "shape") | ast.Call(ast.Attribute(tensor, "size"), []):
                    yield from _of(tensor, "rank", index + 1, at)
                case _ if isinstance(several, torch.Size):  # the shape has a name
                    alike = (n for n, e in at.given.items() if isinstance(e, torch.Tensor) and e.shape == several)
                    yield from (Wish(name, "", "rank", index + 1) for name in alike)
                case _:
                    yield from _of(node.value, "size", index + 1, at)


def _part_of(part: torch.Tensor, made: Any) -> bool:
    """Whether a tensor is what comes of going through an argument."""
    if isinstance(made, torch.Tensor):
        return made is not part and made.ndim > 0 and made.shape[1:] == part.shape
    return isinstance(made, (list, tuple)) and any(each is part for each in made)


def _taken_apart(statement: ast.stmt, count: int, at: Frame) -> Iterator[Wish]:
    """What is assigned to so many names."""
    match statement:
        case ast.Assign([ast.Tuple(parts) | ast.List(parts)], value) if len(parts) == count:
            match value:
                case ast.Attribute(tensor, "shape") | ast.Call(ast.Attribute(tensor, "size"), []):
                    yield from _of(tensor, "rank", count, at)
                case ast.Attribute(tensor, "T" | "mT") | ast.Call(ast.Attribute(tensor, "unbind"), [_]):
                    yield from _of(tensor, "size", count, at, -1)
                case _:
                    yield from _of(value, "size", count, at)


def _nothing(statement: ast.stmt, at: Frame) -> Iterator[Wish]:
    """The arguments that a statement names, and that are None."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and at.names.get(node.id, ...) is None:
            yield from (Wish(*each, "value", ...) for each in at.argument(node))


def _tested(statement: ast.stmt, at: Frame) -> Iterator[Wish]:
    """The tensors that a statement takes for true or false."""
    for node in ast.walk(statement):
        match node:
            case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) | ast.UnaryOp(ast.Not(), test):
                tested = [test]
            case ast.BoolOp(_, parts):
                tested = parts
            case ast.Call(ast.Name("bool"), parts):
                tested = parts
            case _:
                continue
        for each in tested:
            if isinstance(each, (ast.Name, ast.Attribute)):
                yield from (Wish(*found, "kind", "flag") for found in at.argument(each))
            named = [part for part in ast.walk(each) if isinstance(part, ast.Name)]
            yield from (wish for part in named for wish in _of_numbers(part, at))


def _of_numbers(node: ast.Name, at: Frame) -> Iterator[Wish]:
    """Where a part of a tensor is taken for one number, the tensor has one dimension; a whole one is a number."""
    value = at.names.get(node.id)
    if not isinstance(value, torch.Tensor) or value.numel() < _SEVERAL:
        return
    whole = [name for name, made in at.given.items() if made is value]
    yield from (Wish(name, "", "kind", "number") for name in whole)
    tensors = ((name, made) for name, made in at.given.items() if isinstance(made, torch.Tensor))
    parts = (name for name, made in tensors if made.ndim > 1 and made.shape[1:] == value.shape)
    yield from (Wish(name, "", "rank", 1) for name in parts if not whole)


_SEVERAL = 2
"""So many numbers are not one."""


def _unbound(chain: list[ast.stmt], message: str, at: Frame) -> Iterator[Wish]:
    """What lets a branch be taken that assigns the local variable which has no value."""
    name = re.search(r"local variable '(\w+)'", message)
    function = next((each for each in reversed(chain) if isinstance(each, ast.FunctionDef)), None)
    if name is None or function is None:
        return
    for node in ast.walk(function):
        if isinstance(node, ast.If) and any(_binds(each, name[1]) for each in node.body):
            yield from _wanted(node.test, True, at)


def _binds(statement: ast.stmt, name: str) -> bool:
    return isinstance(statement, ast.Assign) and any(
        isinstance(each, ast.Name) and each.id == name for target in statement.targets for each in ast.walk(target)
    )


_NEGATED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.Eq,
    ast.Lt: ast.Gt,
    ast.Gt: ast.Lt,
    ast.LtE: ast.GtE,
    ast.GtE: ast.LtE,
}
_STEP: dict[type[ast.cmpop], int] = {ast.Eq: 0, ast.GtE: 0, ast.LtE: 0, ast.Gt: 1, ast.Lt: -1}


def _wanted(test: ast.expr, truth: bool, at: Frame) -> Iterator[Wish]:
    """What makes a condition that, which it was not."""
    match test:
        case ast.UnaryOp(ast.Not(), inner):
            yield from _wanted(inner, not truth, at)
        case ast.BoolOp(_, parts):
            for part in reversed(parts):
                yield from _wanted(part, truth, at)
        case ast.BinOp(left, ast.BitXor(), right):
            yield from _wanted(right, True, at)
            yield from _wanted(left, True, at)
        case ast.Call(ast.Name("exists" | "is_not_none"), [subject]) if truth:
            yield from (Wish(*found, "value", ...) for found in at.argument(subject))
        case ast.Compare(ast.Call(ast.Name("type"), [subject]), [ast.Eq() | ast.Is()], [of]) if truth:
            with contextlib.suppress(Exception):
                yield from [Wish(*found, "type", at.value(of)) for found in at.argument(subject)]
        case ast.Compare(ast.Constant(str() as key), [ast.In()], [held]) if truth:
            yield from (Wish(name, key, "kind", "") for name, inside in at.argument(held) if not inside)
        case ast.Compare(left, [_, _, *_] as operators, rights) if truth:
            for first, operator, second in zip([left, *rights], operators, rights, strict=False):
                yield from _wanted(ast.fix_missing_locations(ast.Compare(first, [operator], [second])), True, at)
        case ast.Compare(left, [operator], [right]):
            kind = type(operator) if truth else _NEGATED[type(operator)]
            yield from _compared(left, kind, right, at)
            if kind in _FLIPPED:
                yield from _compared(right, _FLIPPED[kind], left, at)
        case ast.Call(ast.Name("isinstance"), [subject, of]) if not truth:
            with contextlib.suppress(Exception):
                several = any(type(at.value(subject)) is each for each in (int, float))
                yield from (Wish(*found, "kind", "list") for found in at.argument(subject) if several)
        case ast.Call(ast.Name("isinstance"), [subject, of]):
            try:
                kinds = at.value(of)
            except Exception:
                return
            for kind in kinds if isinstance(kinds, tuple) else (kinds,):
                yield from (Wish(*found, "type", kind) for found in at.argument(subject))
        case ast.Call(ast.Name("callable"), [subject]) if truth:
            yield from (Wish(*found, "type", "callable") for found in at.argument(subject))
        case ast.Call(ast.Attribute(ast.Name("torch"), "is_tensor"), [subject]) if truth:
            yield from (Wish(*found, "type", torch.Tensor) for found in at.argument(subject))
        case ast.Call(ast.Name("all" | "any"), [ast.GeneratorExp(inner) | ast.ListComp(inner)]):
            yield from _wanted(inner, truth, at)
        case ast.Name() | ast.Attribute():
            yield from (Wish(*found, "value", truth) for found in at.argument(test))


def _compared(left: ast.expr, kind: type[ast.cmpop], right: ast.expr, at: Frame) -> Iterator[Wish]:
    """What the left side must be to stand in that relation to the right."""
    try:
        value = at.value(right)
    except Exception:
        return
    if kind is ast.In:
        several = list(value)[:_CHOICES] if isinstance(value, (list, tuple, set, frozenset, Mapping)) else []
    elif kind in _STEP and type(value) is int:
        several = [value + _STEP[kind]]
    elif kind is ast.Is and value is None:
        several = [None] if isinstance(left, ast.Attribute) else []
    elif kind in (ast.Eq, ast.Is):
        several = [value]
    elif kind is ast.NotEq and type(value) is int:
        several = [value + 1, 2 * value]
    elif kind is ast.IsNot and value is None:
        several = []
        yield from (Wish(*found, "value", ...) for found in at.argument(left))
    else:
        several = []
    for each in reversed(sorted(several) if isinstance(value, (set, frozenset)) and _sortable(several) else several):
        yield from _to_be(left, each, at)


def _sortable(values: list[Any]) -> bool:
    return len({type(each) for each in values}) == 1 and all(isinstance(each, (int, str)) for each in values)


def _to_be(subject: ast.expr, value: Any, at: Frame) -> Iterator[Wish]:
    """What must be of the arguments so that an expression has that value."""
    match subject:
        case ast.Call(ast.Attribute(tensor, "dim" | "ndimension"), []) | ast.Attribute(tensor, "ndim"):
            yield from _of(tensor, "rank", value, at)
        case ast.Call(ast.Name("len"), [ast.Attribute(tensor, "shape") | ast.Call(ast.Attribute(tensor, "size"), [])]):
            yield from _of(tensor, "rank", value, at)
        case ast.Call(ast.Name("len"), [several]):
            yield from _of(several, "size", value, at)
        case ast.Subscript(
            ast.Attribute(tensor, "shape") | ast.Call(ast.Attribute(tensor, "size"), []), index
        ) | ast.Call(ast.Attribute(tensor, "size"), [index]):
            yield from _of(tensor, "size", value, at, _integer(index))
        case ast.Attribute(tensor, "shape") | ast.Call(ast.Attribute(tensor, "size"), []) if _is_shape(value):
            yield from _of(tensor, "shape", tuple(value), at)
        case ast.Attribute(tensor, "dtype"):
            yield from _of(tensor, "dtype", value, at)
        case ast.BinOp(ast.Name() | ast.Attribute() | ast.Subscript() | ast.Call() as inner, ast.Mod(), by) if (
            value == 0
        ):
            try:
                have, divisor = at.value(inner), at.value(by)
            except Exception:
                return
            if type(have) is int and type(divisor) is int and divisor > 0 and have % divisor:
                yield from _to_be(inner, divisor * (have // divisor + 1), at)
        case ast.BinOp(ast.Name(left), ast.Mult(), ast.Name(right)) if type(value) is int and value > 0:
            root = math.isqrt(value)
            factors = (root, root) if root * root == value else (value, 1)
            pair = _pair(left, right, at)
            if pair:
                yield Wish(pair, "", "value", factors)
            elif left in at.given and right in at.given:  # both are granted together
                yield from (Wish(name, "", "value", each) for name, each in zip((left, right), factors, strict=True))
        case ast.Call(ast.Attribute(inner, "lower" | "upper" | "strip"), []) if isinstance(value, str):
            yield from _to_be(inner, value, at)
        case ast.Name(name):
            origin = _unpacked(name, at)
            if origin is not None:
                yield from _to_be(origin, value, at)
            yield from (Wish(*found, "value", value) for found in at.argument(subject))
        case ast.Attribute() | ast.Subscript(_, ast.Constant(str())):
            yield from (Wish(*found, "value", value) for found in at.argument(subject))


def _of(tensor: ast.expr, asks: str, value: Any, at: Frame, dimension: int | None = 0) -> Iterator[Wish]:
    if dimension is not None:
        yield from (Wish(*found, asks, value, dimension) for found in at.argument(tensor))


def _integer(node: ast.expr) -> int | None:
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return value if isinstance(value, int) else None


def _is_shape(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and all(isinstance(each, int) for each in value)


def _pair(left: str, right: str, at: Frame) -> str:
    """The argument that is taken apart into two local variables: `height, width = size`; "", if there is none."""
    code = at.frame.f_code
    tree = parsed(code.co_filename)
    for statement in [] if tree is None else around(tree, code.co_firstlineno):
        for node in ast.walk(statement):
            match node:
                case ast.Assign([ast.Tuple([ast.Name(first), ast.Name(second)])], ast.Name(name)) if (
                    first,
                    second,
                ) == (left, right) and name in at.given:
                    return name
    return ""


def _unpacked(name: str, at: Frame) -> ast.expr | None:
    """The expression that a local variable is a part of: `c` of `b, c, h, w = x.shape` is `x.shape[1]`."""
    code = at.frame.f_code
    tree = parsed(code.co_filename)
    statements = [] if tree is None else around(tree, code.co_firstlineno)
    for statement in reversed(statements):
        for node in ast.walk(statement):
            match node:
                case ast.Assign(
                    [ast.Tuple(parts)],
                    ast.Attribute(_, "shape") | ast.Call(ast.Attribute(_, "size"), []) as shape,
                ):
                    names = [part.id if isinstance(part, ast.Name) else "" for part in parts]
                    if name in names and not any(isinstance(part, ast.Starred) for part in parts):
                        index = names.index(name)
                        return ast.fix_missing_locations(ast.Subscript(shape, ast.Constant(index), ast.Load()))
                case ast.Assign(
                    [ast.Name(target)],
                    ast.Subscript(ast.Attribute(_, "shape")) | ast.Call(ast.Attribute(_, "size")) as part,
                ) if target == name:
                    return part
    return None
