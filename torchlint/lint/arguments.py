"""
What a call gives for an argument, as far as the text around it tells.

Of Python's own tree; follows names no further than to the parameters of the function around, and judges nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from torchlint.knowledge.api import find
from torchlint.knowledge.api.arguments import Argument
from torchlint.knowledge.modules.find import find as module_kind
from torchlint.knowledge.ops.find import keywords
from torchlint.syntax.children import walk
from torchlint.syntax.entries import last_name
from torchlint.target import Release, Target


def argument_at(call: ast.Call, at: int) -> ast.expr:
    """An argument by its index among all of a call, positional ones first."""
    return call.args[at] if at < len(call.args) else call.keywords[at - len(call.args)].value


def of_one_way(given: Sequence[tuple[Argument, int]], target: Target) -> list[list[tuple[Argument, int]]]:
    """
    Arguments of a call, with their indices, apart by what happens to them: gone in the same release, or deprecated. One
    that is only deprecated is still taken where another one is gone.
    """
    ways: dict[Release | None, list[tuple[Argument, int]]] = {}
    for change, at in given:
        ways.setdefault(change.removed if target.reaches(change.removed) else None, []).append((change, at))
    return list(ways.values())


def is_refused(call: ast.Call, name: str) -> bool:
    """
    Whether a call gives what it calls a keyword that no release is known to take: TypeError, whatever else it says. Of
    functions and modules whose parameters the tables have.
    """
    name = find.known_as(name)
    kind = module_kind(name)
    taken = keywords(name) if kind is None else kind.keywords
    return bool(taken) and any(
        each.arg not in taken and not find.has_argument(name, each.arg) for each in call.keywords if each.arg
    )


def may_be_none(value: ast.expr, around: ast.AST, tree: ast.Module) -> bool:
    """
    Whether an argument is None, or a parameter of the function around that is None unless somebody gives it, or an
    attribute of `self` that is given nothing but such a parameter.

    Parameters
    ----------
    value
        The argument.
    around
        The function that the call stands in.
    tree
        The file.
    """
    if isinstance(value, ast.Constant):
        return value.value is None
    if isinstance(value, ast.Name):
        stored = any(
            isinstance(each, ast.Name) and each.id == value.id and not isinstance(each.ctx, ast.Load)
            for each in walk(around)
        )
        return not stored and _is_none_by_default(value.id, around)
    if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name) and value.value.id == "self":
        return _attribute_may_be_none(value.attr, around, tree)
    return False


def _attribute_may_be_none(name: str, around: ast.AST, tree: ast.Module) -> bool:
    """Of an attribute of `self`: whether all that its class assigns to it may be None."""
    for made in walk(tree):
        if isinstance(made, ast.ClassDef) and around in made.body:
            given = [
                may_be_none(node.value, method, tree) if isinstance(node.value, (ast.Name, ast.Constant)) else False
                for method in made.body
                if isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef))
                for node in walk(method)
                if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None
                for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
                if isinstance(target, ast.Attribute) and target.attr == name
            ]
            return bool(given) and all(given)
    return False


def _is_none_by_default(name: str, around: ast.AST) -> bool:
    if not isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    own = around.args
    plain = [*own.posonlyargs, *own.args]
    pairs = [*zip(plain[len(plain) - len(own.defaults) :], own.defaults, strict=True)]
    pairs += [(each, default) for each, default in zip(own.kwonlyargs, own.kw_defaults, strict=True) if default]
    return any(
        each.arg == name and isinstance(default, ast.Constant) and default.value is None for each, default in pairs
    )


def reduction(given: dict[str, ast.expr], call: ast.Call) -> str:
    """
    What says of a loss what `size_average` and `reduce` say of it today, and what else may be meant; the argument alone
    where they are not known. Torch asks of each, unless it is None, whether it is true, as any text is, and takes no
    account of `reduction` then.
    """
    values = {name: value.value if isinstance(value, ast.Constant) else value for name, value in given.items()}
    reduces, averages = (True if (value := values.get(name)) is None else value for name in ("reduce", "size_average"))
    if isinstance(reduces, ast.expr) or (reduces and isinstance(averages, ast.expr)):
        return "reduction"
    today = ("mean" if averages else "sum") if reduces else "none"
    beside = next((getattr(each.value, "value", None) for each in call.keywords if each.arg == "reduction"), None)
    ways = {"any text is True": (reduces, averages) if reduces else (), "it counts, not `reduction`": (beside,)}
    for why, meant in ways.items():
        for other in (each for each in meant if each in ("none", "mean", "sum") and each != today):
            return f"{_saying(today)}` (today's: {why}) or, if meant, `{_saying(str(other))}"
    return _saying(today)


def _saying(reduction: str) -> str:
    return f'reduction="{reduction}"'


def unread(tree: ast.Module, call: ast.AST | None) -> frozenset[str]:
    """The names of a function that the results of a call are unpacked into, and that nothing in the file reads."""
    functions = (node for node in walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))
    inside = (node for function in functions for node in walk(function))
    taken = next((node for node in inside if isinstance(node, ast.Assign) and node.value is call), None)
    if taken is None or len(taken.targets) != 1 or not isinstance(taken.targets[0], ast.Tuple):
        return frozenset()
    read = {node.id for node in walk(tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store)}
    shared = {name for node in walk(tree) if isinstance(node, (ast.Global, ast.Nonlocal)) for name in node.names}
    names = {each.id for each in taken.targets[0].elts if isinstance(each, ast.Name)}
    return frozenset(names - read - shared)


_COUNTS: dict[object, str] = {1: "", 2: "2"}


def transform(change: find.Change, call: ast.Call | None, first: int) -> str:
    """
    What of `torch.fft` takes the place of a call of `torch.irfft` and the like, by its number of dimensions and its
    flag; "" where there is no call, or the flag is not written out.

    Parameters
    ----------
    change
        What happened to the function.
    call
        The call.
    first
        The position of `signal_ndim`.
    """
    if call is None or any(isinstance(each, ast.Starred) for each in call.args):
        return ""
    given = {each.arg: each.value for each in call.keywords}
    given |= dict(zip(("signal_ndim", "normalized", "onesided"), call.args[first:], strict=False))
    count, one_sided = given.get("signal_ndim"), given.get("onesided", ast.Constant(True))
    kind = change.how.partition(":")[2]
    if None in given or not isinstance(one_sided, ast.Constant):
        return ""
    ending = _COUNTS.get(count.value, "n") if isinstance(count, ast.Constant) else "n"
    if kind in ("rfft", "irfft") and not one_sided.value:
        return f"torch.fft.{kind.replace('rfft', 'fft')}{ending}"
    return f"torch.fft.{kind}{ending}"


def _is_whole(call: ast.Call) -> bool:
    """Whether `checkpoint_sequential` is told to make one segment of all, which it runs without a checkpoint."""
    given = [each.value for each in call.keywords if each.arg == "segments"] or call.args[1:2]
    return bool(given) and isinstance(given[0], ast.Constant) and given[0].value == 1


def _is_with_parameters(call: ast.Call) -> bool:
    """
    Whether `checkpoint` is called as another function of that name is, which takes a tuple of inputs and what is to get
    a gradient beside them: torch's hands all of it to the function, which raises whatever else is said.
    """
    inputs, others = call.args[1:2], call.args[2:]
    parameters = (isinstance(each, ast.Call) and last_name(each.func) == "parameters" for each in others)
    return bool(inputs) and isinstance(inputs[0], (ast.Tuple, ast.List)) and any(parameters)


def is_said_in_vain(call: ast.Call, name: str) -> bool:
    """Whether `use_reentrant` changes nothing of a call of `checkpoint` or `checkpoint_sequential`."""
    return (name.endswith(".checkpoint_sequential") and _is_whole(call)) or (
        name.endswith(".checkpoint") and _is_with_parameters(call)
    )


def repository(call: ast.Call) -> str:
    """What of GitHub `torch.hub.load` is told to load; "" where that is not written out, or lies in a folder."""
    given = {each.arg: each.value for each in call.keywords}
    repository, source = call.args[0] if call.args else given.get("repo_or_dir"), given.get("source")
    if not isinstance(repository, ast.Constant) or not isinstance(repository.value, str):
        return ""
    return "" if source is not None and getattr(source, "value", None) != "github" else repository.value


def is_short(call: ast.Call | None, change: find.Change) -> bool:
    """Whether a call gives fewer arguments than what it calls wants."""
    if call is None or not change.least:
        return False
    if any(isinstance(each, ast.Starred) for each in call.args) or any(each.arg is None for each in call.keywords):
        return False
    return len(call.args) + len([each for each in call.keywords if each.arg in ("start", "end")]) < change.least


def is_false(call: ast.Call, at: int) -> bool:
    """Whether an argument, by its index, is False as it stands."""
    value = argument_at(call, at)
    return isinstance(value, ast.Constant) and value.value is False


def given_at(call: ast.Call, name: str, position: int, starred: bool) -> int:
    """The index of an argument among all of a call, positional ones first; -1 if it is not given, or unknown."""
    for at, each in enumerate(call.keywords):
        if each.arg == name:
            return len(call.args) + at
    return position if 0 <= position < len(call.args) and not starred else -1
