"""
Code in a text, `exec(text)` and `eval(text)`: what it may have bound, set and changed.

Of a text that is written out its words are known: what it has no word for it leaves alone, as far as it is read here.
Follows no text.
"""

from __future__ import annotations

import re
from typing import Final

from torchlint.model.autograd.writes import escape
from torchlint.model.python.attributes import attribute
from torchlint.model.python.callbacks import SETTING, may_be_set
from torchlint.model.python.flags import FLAGS, for_effect, text_is_run, unsettle
from torchlint.model.python.run import Run
from torchlint.model.python.variables import lookup
from torchlint.model.state.call_site import CallSite
from torchlint.model.state.guards import Truth
from torchlint.model.state.reflection import note_reflection
from torchlint.model.state.values import NONE, Constant, External, Frame, Tensor, Unknown, Value, reachable_tensors
from torchlint.syntax import ir

OF_TEXT: Final = "builtins.eval"
"""What made a value that a text gives of which nobody knows a word: it may be anything, of torch too."""
_WORD = re.compile(r"\w+")


def run_text(run: Run, site: CallSite) -> Value:
    """`exec(text)`."""
    _call_out_of_sight(run)
    text_is_run(run, "exec(…)")
    _may_set(run, site.get(0, "source"), effect=True)
    return NONE


def _in_text(run: Run, words: set[str] | None) -> None:
    """A text is run whose value is used: that may be one of the variables that it has the words for, or made of it."""
    frame: Frame | None = run.machine.frame
    while frame is not None:
        for name, value in list(frame.variables.items()):
            if words is None or name in words:
                unsettle(run, value, slightly=words is None or words.isdisjoint(FLAGS))
        frame = frame.enclosing


def _may_set(run: Run, text: Value | None, *, effect: bool) -> None:
    """A text is run that may set the grad mode or a default: one that nobody knows, or that has the word for it."""
    words = None
    if isinstance(text, Constant) and isinstance(text.value, str):
        words = set(_WORD.findall(text.value))
    for name in SETTING if words is None or "__enter__" in words else SETTING & words:
        if effect or words is not None:
            may_be_set(run, name)


def _call_out_of_sight(run: Run) -> None:
    """Code in a text may call any function of the file, in the present mode."""
    machine = run.machine
    machine.callers.out_of_sight |= machine.grad_mode is not Truth.YES


def _named(run: Run, text: str, origin: ir.Node) -> Value | None:
    """What a text names that is of another file, as `eval("torch.no_grad")` does: that is known."""
    root, *names = text.strip().split(".")
    if not all(each.isidentifier() for each in (root, *names)):
        return None
    found = lookup(run, root)
    if not isinstance(found, External) or found.qualified.startswith("builtins."):
        return None
    for name in names:
        found = attribute(run, found, name, origin)
    return found


def _speaks_of_torch(run: Run, words: set[str]) -> bool:
    """Whether a text has a word for something of torch."""
    values = (lookup(run, each) for each in words if each.isidentifier())
    return any(isinstance(each, External) and each.qualified.partition(".")[0] == "torch" for each in values)


def evaluate_text(run: Run, site: CallSite) -> Value:
    """`eval(text)`."""
    text = site.positional[0] if site.positional else None
    if len(site.positional) == 1 and isinstance(text, Constant):
        named = _named(run, str(text.value), site.node)
        if named is not None:
            return named
    _call_out_of_sight(run)
    frame: Frame | None = run.machine.frame
    held: list[Tensor] = []
    while frame is not None:
        held += [tensor for value in frame.variables.values() for tensor in reachable_tensors(value)]
        frame = frame.enclosing
    escape(run.autograd, held, site.node)
    words = set(_WORD.findall(str(text.value))) if isinstance(text, Constant) else None
    calls = not isinstance(text, Constant) or "(" in str(text.value)
    if calls and for_effect(run, site.node):
        text_is_run(run, "eval(…)")
    else:
        _in_text(run, words)
    # where nothing is recorded a text may be there to change that
    _may_set(run, text, effect=for_effect(run, site.node) or run.machine.grad_mode is Truth.NO)
    # what a text gives that has a word for torch, or of which nobody knows a word, may be something of torch
    of_torch = run.machine.grad_mode is Truth.NO if words is None else _speaks_of_torch(run, words)
    if words is None or calls or "lambda" in words:
        note_reflection(run.machine, "eval(…)")
    result = Unknown(held, source=site.node, part_of=External("torch") if of_torch else None)
    result.made_by = OF_TEXT if words is None else ""
    return result
