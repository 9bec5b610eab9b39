"""
Two-sided: what the model holds of each variable after each statement, against the live tensor under torch.

The programs are the rules' examples, their cases and the scripts for readers. The model may know less, never otherwise.
"""

from __future__ import annotations

import ast
import contextlib
import io
import warnings
from collections.abc import Iterator
from pathlib import Path

import expectations
import pytest
import torch

from torchlint.report.reveal import TensorState, reveal
from torchlint.truth import Truth

EXAMPLES = Path(__file__).parent.parent / "docs" / "examples"
DTYPES = {torch.bool: "bool", **dict.fromkeys((torch.float16, torch.bfloat16, torch.float32, torch.float64), "float")}


def _programs() -> list[object]:
    programs = [
        pytest.param(expectations.stripped(example.source), id=f"{rule.code}-{kind}-{number}")
        for rule in expectations.rules()
        for kind in ("bad", "good")
        for number, example in enumerate(getattr(rule, kind), start=1)
    ]
    for path in sorted([*EXAMPLES.glob("*.py"), *EXAMPLES.glob("cured/*.py")]):
        name = f"{path.parent.name}-{path.stem}"
        programs.append(pytest.param(expectations.stripped(path.read_text(encoding="utf-8")), id=name))
    return programs


def _live(tensor: torch.Tensor) -> dict[str, object]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            "shape": tuple(tensor.shape),
            "dtype": DTYPES.get(tensor.dtype, "complex" if tensor.is_complex() else "int"),
            "requires_grad": tensor.requires_grad,
            "is_leaf": tensor.is_leaf,
            "has_grad": tensor.grad is not None,
            "grad_fn": tensor.grad_fn.name() if tensor.grad_fn is not None else "",
            "written": tensor._version > 0,
        }


def _disagreements(state: TensorState, live: dict[str, object]) -> list[str]:
    wrong = []
    shape = live["shape"]
    assert isinstance(shape, tuple)
    if state.shape is not None and (
        len(state.shape) != len(shape) or any(a not in (None, b) for a, b in zip(state.shape, shape, strict=True))
    ):
        wrong.append(f"shape {state.shape}")
    if state.dtype is not None and state.dtype != live["dtype"]:
        wrong.append(f"dtype {state.dtype}")
    # Torch's own initialisers write too: a tensor that the program never wrote may have a version.
    if state.written is Truth.YES and not live["written"]:
        wrong.append("written YES")
    for name in ("requires_grad", "is_leaf", "has_grad"):
        truth: Truth = getattr(state, name)
        if truth is not Truth.MAYBE and (truth is Truth.YES) != live[name]:
            wrong.append(f"{name} {truth.name}")
    return wrong


@pytest.fixture
def process_state() -> Iterator[None]:
    """The programs run in this process: what they leave in it is undone."""
    yield
    torch.set_grad_enabled(True)
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


@pytest.mark.usefixtures("process_state")
@pytest.mark.parametrize("program", _programs())
def test_model_agrees_with_live_tensors(program: str) -> None:
    states = {state.line: state.tensors for state in reveal(program)}
    namespace: dict[str, object] = {"__name__": "__main__"}
    torch.manual_seed(0)
    compared = 0
    ended = True
    for statement in ast.parse(program).body:
        code = compile(ast.Module([statement], []), "program.py", "exec")
        try:
            with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec(code, namespace)  # the programs are this repository's own
        except Exception:
            ended = False
            break
        for name, state in states.get(statement.lineno, {}).items():
            value = namespace.get(name)
            if isinstance(value, torch.Tensor):
                compared += 1
                live = _live(value)
                assert not (wrong := _disagreements(state, live)), (
                    f"line {statement.lineno}: `{name}`: {wrong}, is {live}"
                )
    assert compared or not ended or not any(states.values())
