"""
How a program is rewritten from one name or argument of torch's API to another, as the table of changes says.

From an event to a `Fix`, or None where the text does not show that the new program means the same. Judges nothing: that
something is gone is the rule's business. Keeps arguments, keywords, comments and `**`.
"""

from __future__ import annotations

from dataclasses import replace

from torchlint.fixes.expressions import as_function, eigenvalues_of, solution_of, transform_of
from torchlint.fixes.rewrites import code, has_comment, without_argument
from torchlint.knowledge.api.find import Change, since
from torchlint.knowledge.api.weights import trained
from torchlint.model.events.api import ApiReference, OldArgument, UnsafeLoad, UnsaidArgument
from torchlint.rule import Edit, Fix
from torchlint.syntax import cst

_LOADED = ("torch.linalg", "torch.fft", "torch.func", "torch.amp", "torch.nn", "torch.cuda", "torch.backends")
"""What `import torch` brings along, beside torch itself."""
_COMPLEX = (1, 8)
"""The release from which on all that transforms need of complex numbers is there."""
_MODULES = ("torch.utils.data", "torch.utils._pytree")
"""What is imported by its own name."""


def renamed(event: ApiReference, change: Change, *, mends: bool) -> Fix | None:
    """
    The reference, or its call, in the new API.

    Parameters
    ----------
    event
        The place.
    change
        What happened to the name.
    mends
        What is there now raises.
    """
    if not change.instead or event.target.begins_before(since(change.instead)):
        return None
    how, _, text = change.how.partition(":")
    if how == "order" and event.target.begins_before(change.deprecated):
        return None  # it came with what takes its place
    title = f"use `{change.instead}`"
    if event.imports:
        return _imported(event, change, title, mends=mends)
    if how in ("rename", "twin") and not text:
        return _referred(event, change.instead, "", title, safe=how == "rename", mends=mends)
    if how == "call":
        return _referred(event, change.instead, "()", title, mends=mends) if event.call is None else None
    if how == "decorator" and event.decorates:
        return _referred(event, change.instead, f"({text})", title, mends=mends)
    call = event.call
    if call is None or not how:
        return None
    if how == "method":
        if not isinstance(call.func, cst.Attribute):
            return None
        return Fix(title, (Edit(call.func.attr, change.instead.rpartition(".")[2]),), safe=True, mends=mends)
    given = as_function(call) if event.is_method else call
    if given is None:
        return None
    if how == "solve":
        edits = solution_of(call, given, event.statement, event.unread)
        return None if edits is None else Fix(title, edits, safe=False, imports=("import torch",), mends=mends)
    if how == "symeig" and (values := eigenvalues_of(call, given, event.statement, event.unread)):
        return Fix(
            "use `torch.linalg.eigvalsh`, since only the values are used",
            values,
            safe=True,
            imports=("import torch",),
            mends=mends,
        )
    if how == "transform":
        new = None if event.target.begins_before(_COMPLEX) else transform_of(given, text)
        return (
            None
            if new is None
            else Fix(title, (Edit(call, new),), safe=text == "rfft", imports=("import torch",), mends=mends)
        )
    made = _rewritten(given, how, text)
    if made is None:
        return None
    # Who asks elsewhere for an object of the derived class is given one of the base: only what is entered is not kept.
    kept = change.derived and not event.decorates and not isinstance(event.statement, (cst.With, cst.WithItem))
    return _replaced_call(event, call, made, change.instead, title, safe=how != "symeig" and not kept, mends=mends)


def _rewritten(call: cst.Call, how: str, text: str) -> cst.Call | None:
    """The call with other arguments."""
    if how == "rename":
        count, _, names = text.partition("|")
        return _renamed_arguments(call, int(count), names.split(",") if names else [])
    if how == "prepend":
        named = {arg.keyword.value for arg in call.args if arg.keyword is not None}
        if named & {"device_type", "device"}:
            return None
        value, _, names = text.partition("|")
        first = cst.Arg(cst.parse_expression(value), comma=cst.MaybeSentinel.DEFAULT)
        args = _named(call, names.split(",")) if names else list(call.args)
        return None if args is None else call.with_changes(args=[first, *args])
    if how in ("keyword", "decorator"):
        new = _arguments(text)
        given = {arg.keyword.value for arg in call.args if arg.keyword is not None}
        if given & {arg.keyword.value for arg in new if arg.keyword is not None} or _open(call):
            return None
        return _with_arguments(call, new)
    if how == "list":
        return _listed(call)
    if how == "order":
        return _reordered(call, [int(each) for each in text.partition("|")[0].split(",")])
    if how == "qr":
        return _qr(call)
    return _symeig(call) if how == "symeig" else None


def _renamed_arguments(call: cst.Call, count: int, names: list[str]) -> cst.Call | None:
    """
    The call with at most `count` positional arguments; those after them get names, and no others have any. A first one
    that is given as `input` is given by position: what takes the place of a function may call it otherwise.
    """
    if count and call.args and call.args[0].keyword is not None and call.args[0].keyword.value == "input":
        first = call.args[0].with_changes(keyword=None, equal=cst.MaybeSentinel.DEFAULT)
        call = call.with_changes(args=[first, *call.args[1:]])
    if any(arg.star or (arg.keyword is not None and arg.keyword.value not in names) for arg in call.args):
        return None
    plain = sum(arg.keyword is None for arg in call.args)
    if plain > count + len(names):
        return None
    args = _named(call, [""] * count + names)
    return None if args is None else call.with_changes(args=args)


def _reordered(call: cst.Call, order: list[int]) -> cst.Call | None:
    """The positional arguments in another order."""
    if len(call.args) != len(order) or any(arg.star or arg.keyword for arg in call.args) or has_comment(call):
        return None
    slots = zip(order, call.args, strict=True)
    return call.with_changes(args=[call.args[at].with_changes(comma=slot.comma) for at, slot in slots])


def _listed(call: cst.Call) -> cst.Call | None:
    """The positional arguments as a list, `out=` after it."""
    plain = [arg for arg in call.args if arg.keyword is None and arg.star != "**"]
    rest = [arg for arg in call.args if arg not in plain]
    if not plain or has_comment(call) or any(arg.keyword is None or arg.keyword.value != "out" for arg in rest):
        return None
    elements: list[cst.BaseElement] = [
        cst.StarredElement(arg.value) if arg.star else cst.Element(arg.value) for arg in plain
    ]
    return call.with_changes(args=[cst.Arg(cst.List(elements)), *rest])


def _qr(call: cst.Call) -> cst.Call | None:
    """`qr(A, some=False)`, if the flag is written out: `linalg.qr` has a mode of two names instead."""
    made = _renamed_arguments(call, 1, ["some"])
    if made is None or not made.args or made.args[0].keyword is not None or has_comment(call):
        return None
    if len(made.args) == 1:
        return made
    some = code(made.args[1].value)
    if some not in ("True", "False"):
        return None
    first = made.args[0].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    return made.with_changes(args=[first, *(_arguments('mode="complete"') if some == "False" else ())])


def _symeig(call: cst.Call) -> cst.Call | None:
    """`symeig(A, eigenvectors=True)`: with the vectors, and of the upper triangle."""
    plain = [arg for arg in call.args if arg.keyword is None and not arg.star]
    named = {arg.keyword.value: arg for arg in call.args if arg.keyword is not None}
    if len(plain) + len(named) != len(call.args) or has_comment(call):
        return None
    wants = named.get("eigenvectors") or (plain[1] if len(plain) > 1 else None)
    if wants is None or code(wants.value) != "True" or len(plain) > 2 or not plain or named.keys() - {"eigenvectors"}:
        return None
    return call.with_changes(args=[plain[0].with_changes(comma=cst.MaybeSentinel.DEFAULT), *_arguments('UPLO="U"')])


def _named(call: cst.Call, names: list[str]) -> list[cst.Arg] | None:
    """The arguments, with names for those that are given by position; "" leaves one without."""
    found = []
    for at, arg in enumerate(call.args):
        if arg.star == "*" or (arg.keyword is None and not arg.star and at >= len(names)):
            return None
        if arg.keyword is None and not arg.star:
            tight = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
            arg = arg.with_changes(keyword=cst.Name(names[at]), equal=tight) if names[at] else arg
        found.append(arg)
    return found


def _arguments(text: str) -> list[cst.Arg]:
    call = cst.parse_expression(f"f({text})")
    assert isinstance(call, cst.Call)
    return list(call.args)


def _with_arguments(call: cst.Call, new: list[cst.Arg]) -> cst.Call | None:
    """A call with arguments at its end, before `**` there is none; its layout stays."""
    args = list(call.args)
    if args and isinstance(args[-1].comma, cst.Comma):  # one argument a line: the new ones get lines of their own
        comma = args[-1].comma
        if not isinstance(comma.whitespace_after, cst.ParenthesizedWhitespace):
            return call.with_changes(args=[*args, *new])
        return None if has_comment(comma) else _on_own_line(call, args, new)
    return call.with_changes(args=[*args, *new])


def _on_own_line(call: cst.Call, args: list[cst.Arg], new: list[cst.Arg]) -> cst.Call | None:
    before = call.whitespace_before_args
    last = args[-1].comma
    assert isinstance(last, cst.Comma)
    if not isinstance(before, cst.ParenthesizedWhitespace) or len(new) != 1 or has_comment(before):
        return None
    args[-1] = args[-1].with_changes(comma=last.with_changes(whitespace_after=before))
    return call.with_changes(args=[*args, new[0].with_changes(comma=last)])


def _open(call: cst.Call) -> bool:
    return any(arg.star for arg in call.args)


def _new_name(event: ApiReference, instead: str) -> tuple[str, tuple[str, ...]] | None:
    """How the new name is written where the old one stands, and the import that it needs."""
    if event.is_method:
        return instead, ("import torch",)
    old, spelled = event.name.split("."), event.spelled.split(".")
    root = old[: len(old) - len(spelled) + 1]  # what the first word stands for
    new = instead.split(".")
    if len(spelled) > 1 and new[: len(root)] == root and len(new) > len(root):
        return ".".join([spelled[0], *new[len(root) :]]), ()
    module = instead.rpartition(".")[0]
    if module == "torch" or module.startswith(_LOADED):
        return instead, ("import torch",)
    return (instead, (f"import {module}",)) if module in _MODULES else None


def _referred(
    event: ApiReference, instead: str, after: str, title: str, *, safe: bool = True, mends: bool
) -> Fix | None:
    written = _new_name(event, instead)
    if written is None or isinstance(event.reference, cst.ImportAlias):
        return None
    text, imports = written
    node = event.reference
    same_module = event.name.rpartition(".")[0] == instead.rpartition(".")[0]
    if same_module and isinstance(node, cst.Attribute) and not after:
        node, text, imports = node.attr, instead.rpartition(".")[2], ()
    if not same_module and has_comment(node):
        return None
    return Fix(title, (Edit(node, text + after),), safe=safe, imports=imports, mends=mends)


def _replaced_call(
    event: ApiReference, call: cst.Call, made: cst.Call, instead: str, title: str, *, safe: bool, mends: bool
) -> Fix | None:
    written = _new_name(event, instead)
    if written is None or has_comment(call.func):
        return None
    text, imports = written
    new = code(made.with_changes(func=cst.parse_expression(text), lpar=(), rpar=()))
    return Fix(title, (Edit(call, new),), safe=safe, imports=imports, mends=mends)


def _imported(event: ApiReference, change: Change, title: str, *, mends: bool) -> Fix | None:
    """`from torch import ger` as `from torch import outer as ger`: whoever uses the name, goes on to use it."""
    statement, alias = event.importing, event.reference
    if statement is None or not isinstance(alias, cst.ImportAlias) or isinstance(statement.names, cst.ImportStar):
        return None
    if change.how not in ("rename", "twin"):
        return None if event.is_used else _without_import(event, statement, alias)
    safe = change.how == "rename"
    module, _, name = change.instead.rpartition(".")
    part = name if name == event.imports else f"{name} as {event.imports}"
    if module == event.name.rpartition(".")[0]:
        return Fix(title, (Edit(alias, part),), safe=safe, mends=mends)
    if len(statement.names) == 1 and not has_comment(statement):
        return Fix(title, (Edit(statement, f"from {module} import {part}"),), safe=safe, mends=mends)
    rest = _other_names(statement, alias)
    if rest is None or not isinstance(event.statement, cst.SimpleStatementLine) or len(event.statement.body) > 1:
        return None
    edits = (Edit(event.statement, f"from {module} import {part}", before=True), Edit(statement, rest))
    return Fix(title, edits, safe=safe, mends=mends)


def _without_import(event: ApiReference, statement: cst.ImportFrom, alias: cst.ImportAlias) -> Fix | None:
    """Nobody uses the name any more."""
    assert not isinstance(statement.names, cst.ImportStar)
    title = f"remove the import of `{event.spelled}`, which nothing uses"
    if len(statement.names) == 1:
        if not isinstance(event.statement, cst.SimpleStatementLine) or len(event.statement.body) > 1:
            return None
        return Fix(title, (Edit(event.statement, ""),), safe=False)
    rest = _other_names(statement, alias)
    return Fix(title, (Edit(statement, rest),), safe=False) if rest is not None else None


def _other_names(statement: cst.ImportFrom, alias: cst.ImportAlias) -> str | None:
    assert not isinstance(statement.names, cst.ImportStar)
    if has_comment(statement):
        return None
    names = [each for each in statement.names if each is not alias]
    if statement.lpar is None:
        names[-1] = names[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    return code(statement.with_changes(names=names))


def without_old_argument(event: OldArgument) -> Fix | None:
    """The call without an argument that is gone or goes, or with what took its place."""
    call, change = event.call, event.change
    if call is None:
        return None
    how, _, value = change.how.partition(":")
    mends = event.target.reaches(change.removed)
    given = event.argument
    if how == "rename" and given.keyword is not None:
        taken = {arg.keyword.value for arg in call.args if arg.keyword is not None}
        if change.instead in taken or _open(call):
            return None
        return Fix(f"write `{change.instead}=`", (Edit(given.keyword, change.instead),), safe=True, mends=mends)
    if how == "drop":
        text = without_argument(call, given)
        if text is None:
            return None
        safe = code(given.value) == value
        return Fix(f"leave out `{change.name}`", (Edit(call, text),), safe=safe, mends=mends)
    if how == "reduction":
        return _reduction(event, call)
    if how == "weights" and not event.target.begins_before(change.instead_since):
        return _weights(event, call)
    return None


def _reduction(event: OldArgument, call: cst.Call) -> Fix | None:
    """`size_average` and `reduce` as the `reduction` that they stand for."""
    pairs = [(event.change, event.argument), *event.others]
    values = {arg.keyword.value: code(arg.value) for arg in call.args if arg.keyword is not None}
    if any(values.get(name, "None") not in ("True", "False", "None") for name in ("size_average", "reduce")):
        return None  # an argument of the function around may be anything
    for change, argument in pairs:
        text = code(argument.value)
        if text not in ("True", "False", "None"):
            return None
        values[change.name] = text
    if _open(call) or any(arg.keyword is not None and arg.keyword.value == "reduction" for arg in call.args):
        return None
    if values.get("reduce") == "False":
        reduction = "none"
    elif values.get("size_average") == "False":
        reduction = "sum"
    else:
        reduction = "mean"
    made = call
    for argument in sorted((each for _, each in pairs), key=lambda each: -list(call.args).index(each)):
        kept = [arg for arg in made.args if arg is not argument]
        at = made.args.index(argument)
        if has_comment(argument) or (
            argument.keyword is None and any(arg.keyword is None for arg in made.args[at + 1 :])
        ):
            return None
        made = made.with_changes(args=kept)
    new = _arguments(f'reduction="{reduction}"')
    args = list(made.args)
    if args and not isinstance(args[-1].comma, cst.Comma):
        args[-1] = args[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    elif args and isinstance(event.argument.comma, cst.MaybeSentinel):
        args[-1] = args[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT, whitespace_after_arg=cst.SimpleWhitespace(""))
    text = code(made.with_changes(args=[*args, *new]))
    return Fix(f'write `reduction="{reduction}"`', (Edit(call, text),), safe=True)


def _weights(event: OldArgument, call: cst.Call) -> Fix | None:
    """`pretrained=True` as the weights that it stands for."""
    edits, said = [], []
    for change, given in ((event.change, event.argument), *event.others):
        value = code(given.value)
        name = trained(event.name, change.name) if value == "True" else None
        if value not in ("True", "False") or (value == "True" and name is None) or has_comment(given):
            return None
        after = call.args[call.args.index(given) + 1 :]
        if given.keyword is None and any(arg.keyword is None or arg.star for arg in after):
            return None
        keyword = change.name.replace("pretrained", "weights")
        text = f'{keyword}="{name}"' if name else f"{keyword}=None"
        edits.append(Edit(given, text))
        said.append(f"`{text}`")
    if _open(call) or event.target.begins_before(event.change.deprecated):
        return None
    return Fix(f"write {' and '.join(said)}", tuple(edits), safe=True)


def with_argument_said(event: UnsaidArgument) -> Fix | None:
    """The call that says what it means."""
    call, unsaid = event.call, event.unsaid
    if call is None or not unsaid.say or event.target.begins_before(unsaid.keyword):
        return None
    if event.refused:  # it is the other value that takes them
        fix = saying(call, unsaid.name, "False", safe=True)
        return None if fix is None else replace(fix, mends=True)
    return saying(call, unsaid.name, unsaid.say, safe=True)


def saying(call: cst.Call, name: str, value: str, *, safe: bool) -> Fix | None:
    """A call with one more argument, at its end."""
    if _open(call):
        return None
    made = _with_arguments(call, _arguments(f"{name}={value}"))
    return None if made is None else Fix(f"say `{name}={value}`", (Edit(call, code(made)),), safe=safe)


WEIGHTS_ONLY = (1, 13)
"""The release that `torch.load` has `weights_only` from."""

CRAFTED = (((2, 6), "runs code", "CVE-2025-32434"), ((2, 10), "corrupts memory", "CVE-2026-24747"))
"""What a crafted file does in spite of `weights_only=True`: before which release, and PyTorch's advisory of it."""


def loading_weights(event: UnsafeLoad) -> Fix | None:
    """The call that loads weights only: a file with other things in it is refused then."""
    if event.value is not None:
        return Fix("load weights only", (Edit(event.value, "True"),), safe=False)
    if event.call is None or event.target.begins_before(WEIGHTS_ONLY):
        return None
    return saying(event.call, "weights_only", "True", safe=False)
