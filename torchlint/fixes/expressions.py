"""
Calls of functions that are gone whose place another expression takes: `solve`, `symeig`, the transforms.

From a call and the statement around it to edits, or None where the text does not show which results are used. Judges
nothing.
"""

from __future__ import annotations

import libcst as cst
import libcst.matchers as m

from torchlint.fixes.rewrites import code, has_comment
from torchlint.rule import Edit

_TRANSFORMS = {1: "{}", 2: "{}2", 3: "{}n"}
"""By the number of dimensions, from the name for one."""


def solution_of(call: cst.Call, statement: cst.CSTNode) -> tuple[Edit, ...] | None:
    """
    `torch.solve(B, A)` of which only the solution is used, as `torch.linalg.solve(A, B)`.

    Parameters
    ----------
    call
        Of `torch.solve` or `torch.gesv`, which gave the solution and a factorization.
    statement
        Around it.
    """
    given = arguments(call, ("input", "A"))
    if given is None or len(given) != 2 or has_comment(call):
        return None
    return _first_of(call, statement, "solution", f"torch.linalg.solve({code(given['A'])}, {code(given['input'])})")


def eigenvalues_of(call: cst.Call, statement: cst.CSTNode) -> tuple[Edit, ...] | None:
    """`torch.symeig(A)` without eigenvectors of which only the values are used, as `torch.linalg.eigvalsh`."""
    given = arguments(call, ("input", "eigenvectors", "upper"))
    if given is None or "input" not in given or has_comment(call):
        return None
    if code(given.get("eigenvectors", cst.Name("False"))) != "False":
        return None
    triangle = {"True": '"U"', "False": '"L"'}.get(code(given.get("upper", cst.Name("True"))))
    made = f"torch.linalg.eigvalsh({code(given['input'])}, UPLO={triangle})"
    return _first_of(call, statement, "eigenvalues", made) if triangle else None


def _first_of(call: cst.Call, statement: cst.CSTNode, name: str, made: str) -> tuple[Edit, ...] | None:
    """What takes the place of the first result of a call, if no other is used: by name, by index, or unpacked."""
    for pattern in (
        m.Attribute(attr=m.Name(name)),
        m.Subscript(slice=[m.SubscriptElement(m.Index(m.Integer("0")))]),
    ):
        for node in m.findall(statement, pattern):
            if isinstance(node, (cst.Attribute, cst.Subscript)) and node.value is call:
                return None if has_comment(node) else (Edit(node, made),)
    for assignment in m.findall(statement, m.Assign(targets=[m.AssignTarget(m.Tuple())])):
        assert isinstance(assignment, cst.Assign)
        names = assignment.targets[0].target
        if assignment.value is call and isinstance(names, cst.Tuple) and not has_comment(assignment):
            first, *rest = (each.value for each in names.elements)
            if [code(each) for each in rest] == ["_"] and isinstance(names.elements[0], cst.Element):
                return (Edit(assignment, f"{code(first)} = {made}"),)
    return None


def transform_of(call: cst.Call, name: str) -> str | None:
    """
    `torch.rfft(x, 2, onesided=False)` and the like in `torch.fft`, with pairs of numbers for complex ones as before.

    Parameters
    ----------
    call
        Of a function with `signal_ndim`, `normalized`, `onesided`.
    name
        "rfft" or "ifft".

    Returns
    -------
    str or None
        None where the number of dimensions or a flag is not written out.
    """
    given = arguments(call, ("input", "signal_ndim", "normalized", *(("onesided",) if name == "rfft" else ())))
    if given is None or "input" not in given or has_comment(call):
        return None
    count, flags = code(given["signal_ndim"]) if "signal_ndim" in given else "", {}
    for flag, default in (("normalized", "False"), ("onesided", "True")):
        flags[flag] = code(given[flag]) if flag in given else default
    if count not in ("1", "2", "3") or not {*flags.values()} <= {"True", "False"}:
        return None
    one = "fft" if name == "rfft" and flags["onesided"] == "False" else name
    x = code(given["input"])
    if name == "ifft":
        x = f"torch.view_as_complex({x})"
    dims = ", dim=(-3, -2, -1)" if count == "3" else ""
    norm = ', norm="ortho"' if flags["normalized"] == "True" else ""
    return f"torch.view_as_real(torch.fft.{_TRANSFORMS[int(count)].format(one)}({x}{dims}{norm}))"


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
