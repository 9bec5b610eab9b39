"""
The order of parameters in the operation table is that of the functions themselves.

What torch tests an operation with may call it through a function of its own that turns the arguments round
(`lambda weight, idx, **kwargs: embedding_bag(idx, weight, **kwargs)`): no order may be learned from that.
"""

from __future__ import annotations

import inspect
import json
import pkgutil
from types import FunctionType

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("expecttest", reason="torch's own sample inputs need it: pip install 'torchlint[dev]'")

from torchlint.knowledge.ops import find as ops  # noqa: E402

pytestmark = pytest.mark.skipif(
    ops.torch_version() != torch.__version__.partition("+")[0],
    reason=f"the table is of torch {ops.torch_version()}, installed is {torch.__version__}",
)
FUNCTIONS = sorted(
    each for each in json.loads(ops.TABLE.read_text())["spellings"] if not each.startswith("torch.Tensor.")
)


def orders(spelling: str) -> list[list[str]]:
    """The orders in which a function takes its public parameters: of its signature, or of its native overloads."""
    try:
        function = pkgutil.resolve_name(spelling)
    except (AttributeError, ImportError, ValueError):
        return []
    if isinstance(function, FunctionType):
        parameters = inspect.signature(function).parameters.values()
        if any(each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD) for each in parameters):
            return []
        return [[each.name for each in parameters if not each.name.startswith("_")]]
    native = spelling.removeprefix("torch.").replace("nn.functional.", "").replace(".", "_")
    schemas = torch._C._jit_get_schemas_for_operator(f"aten::{native}")
    return [[each.name for each in schema.arguments if not each.kwarg_only] for schema in schemas]


def positional(op: ops.Op) -> list[str]:
    return [each.name for each in op.parameters if not each.keyword_only]


def test_as_in_the_signatures_of_python_functions() -> None:
    tried = 0
    for spelling in FUNCTIONS:
        for order in orders(spelling) if _is_python(spelling) else []:
            tried += 1
            for op in ops.find(spelling):
                assert positional(op) == order[: len(positional(op))], spelling
    assert tried > 75


def test_as_in_the_function_that_an_opinfo_wraps() -> None:
    from torch.testing._internal.common_methods_invocations import op_db

    tried = set()
    for info in op_db:
        if not getattr(info.op, "__module__", "").startswith("torch.testing"):
            continue
        for spelling in (f"torch.{info.name}", f"torch.{info.name.replace('.', '_')}"):
            wanted = orders(spelling)
            for op in ops.find(spelling) if wanted else ():
                tried.add(spelling)
                own = [_of_functions(each) for each in positional(op)]
                assert any(own == [_of_functions(each) for each in order[: len(own)]] for order in wanted), spelling
    assert "torch.nn.functional.embedding_bag" in tried
    assert len(tried) > 20


def _of_functions(name: str) -> str:
    """Functions call `input` what the native functions call `self`."""
    return "self" if name == "input" else name


def _is_python(spelling: str) -> bool:
    try:
        return isinstance(pkgutil.resolve_name(spelling), FunctionType)
    except (AttributeError, ImportError, ValueError):
        return False
