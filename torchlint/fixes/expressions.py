"""
Calls of functions and methods that are gone whose place another expression takes: `solve`, `symeig`, the transforms.

From a call and the statement around it to edits, or None where the text does not show which results are used. Judges
nothing.
"""

from __future__ import annotations

from collections.abc import Collection

from torchlint.fixes.rewrites import code, has_comment
from torchlint.rule import Edit
from torchlint.syntax import cst
from torchlint.syntax.tree import walk

_DIMENSIONS = {"1": ", dim=(-1,)", "2": ", dim=(-2, -1)", "3": ", dim=(-3, -2, -1)"}
"""Those that are transformed, by their number as it is written."""
_FURTHER = {"fft": (), "ifft": (), "rfft": ("onesided",), "irfft": ("onesided", "signal_sizes")}
"""What a transform takes besides."""


def as_function(call: cst.Call) -> cst.Call | None:
    """A call of a method as one of the function of the same name: the receiver is its first argument."""
    if not isinstance(call.func, cst.Attribute) or has_comment(call.func):
        return None
    receiver = call.func.value
    if not isinstance(receiver, (cst.NamedExpr, cst.Yield, cst.Tuple, cst.GeneratorExp)):
        receiver = receiver.with_changes(lpar=(), rpar=())
    return call.with_changes(args=[cst.Arg(receiver), *call.args])


def solution_of(
    call: cst.Call, given: cst.Call, statement: cst.CSTNode, unread: Collection[str] = ()
) -> tuple[Edit, ...] | None:
    """
    `torch.solve(B, A)` of which only the solution is used, as `torch.linalg.solve(A, B)`.

    Parameters
    ----------
    call
        Of `torch.solve` or `torch.gesv`, which gave the solution and a factorization, or of the method.
    given
        The same as a call of the function.
    statement
        Around it.
    unread
        Names that nothing reads.
    """
    values = arguments(given, ("input", "A"))
    if values is None or len(values) != 2 or has_comment(call):
        return None
    made = f"torch.linalg.solve({code(values['A'])}, {code(values['input'])})"
    return _first_of(call, statement, "solution", made, unread)


def eigenvalues_of(
    call: cst.Call, given: cst.Call, statement: cst.CSTNode, unread: Collection[str] = ()
) -> tuple[Edit, ...] | None:
    """`torch.symeig(A)` without eigenvectors of which only the values are used, as `torch.linalg.eigvalsh`."""
    values = arguments(given, ("input", "eigenvectors", "upper"))
    if values is None or "input" not in values or has_comment(call):
        return None
    if code(values.get("eigenvectors", cst.Name("False"))) != "False":
        return None
    triangle = {"True": '"U"', "False": '"L"'}.get(code(values.get("upper", cst.Name("True"))))
    made = f"torch.linalg.eigvalsh({code(values['input'])}, UPLO={triangle})"
    return _first_of(call, statement, "eigenvalues", made, unread) if triangle else None


def _first_of(
    call: cst.Call, statement: cst.CSTNode, name: str, made: str, unread: Collection[str]
) -> tuple[Edit, ...] | None:
    """What takes the place of the first result of a call, if no other is used: by name, by index, or unpacked."""
    for node in walk(statement):  # libcst's matchers take half as long to import as all the rest
        if isinstance(node, (cst.Attribute, cst.Subscript)):
            if node.value is call and _is_first(node, name):
                return None if has_comment(node) else (Edit(node, made),)
        elif isinstance(node, cst.Assign) and node.value is call and len(node.targets) == 1:
            names = node.targets[0].target
            if isinstance(names, cst.Tuple) and not has_comment(node):
                first, *rest = (each.value for each in names.elements)
                others = [code(each) for each in rest]
                if (
                    len(others) == 1
                    and (others == ["_"] or others[0] in unread)
                    and isinstance(names.elements[0], cst.Element)
                ):
                    return (Edit(node, f"{code(first)} = {made}"),)
    return None


def _is_first(node: cst.Attribute | cst.Subscript, name: str) -> bool:
    """Whether what is taken of a result is the part of that name, or the one at 0."""
    if isinstance(node, cst.Attribute):
        return node.attr.value == name
    if len(node.slice) != 1 or not isinstance(node.slice[0].slice, cst.Index):
        return False
    index = node.slice[0].slice.value
    return isinstance(index, cst.Integer) and index.value == "0"


def transform_of(call: cst.Call, name: str) -> str | None:
    """
    `torch.rfft(x, 2, onesided=False)` and the like in `torch.fft`, with pairs of numbers for complex ones as before.

    Parameters
    ----------
    call
        Of a function with `signal_ndim`, `normalized`, `onesided`, `signal_sizes`.
    name
        "fft", "ifft", "rfft" or "irfft".

    Returns
    -------
    str or None
        None where the number of dimensions or a flag is not written out; and for `irfft` of both sides, which read one
        of them only, or without `signal_sizes`: it took the last one for odd, and `torch.fft` takes it for even.
    """
    given = arguments(call, ("input", "signal_ndim", "normalized", *_FURTHER[name]))
    if given is None or "input" not in given or has_comment(call):
        return None
    count, flags = code(given["signal_ndim"]) if "signal_ndim" in given else "", {}
    for flag, default in (("normalized", "False"), ("onesided", "True")):
        flags[flag] = code(given[flag]) if flag in given else default
    if count not in _DIMENSIONS or not {*flags.values()} <= {"True", "False"}:
        return None
    two_sided = flags["onesided"] == "False"
    if name == "irfft" and (two_sided or "signal_sizes" not in given):
        return None
    ending, dims, sized = {"1": "", "2": "2", "3": "n"}[count], _DIMENSIONS["3"] if count == "3" else "", ""
    if "signal_sizes" in given:
        ending, dims, sized = "n", _DIMENSIONS[count], f", s={code(given['signal_sizes'])}"
    one = "fft" if name == "rfft" and two_sided else name
    x = code(given["input"]) if name == "rfft" else f"torch.view_as_complex({code(given['input'])})"
    norm = ', norm="ortho"' if flags["normalized"] == "True" else ""
    made = f"torch.fft.{one}{ending}({x}{sized}{dims}{norm})"
    return made if name == "irfft" else f"torch.view_as_real({made})"


def arguments(call: cst.Call, names: tuple[str, ...]) -> dict[str, cst.BaseExpression] | None:
    """The arguments by name; None for others, and where `*` hides them."""
    found: dict[str, cst.BaseExpression] = {}
    for at, argument in enumerate(call.args):
        keyword = argument.keyword.value if argument.keyword is not None else None
        name = keyword or (names[at] if at < len(names) else "")
        if argument.star or name not in names or name in found:
            return None
        found[name] = argument.value
    return found
