"""
Code in a text, `exec(text)` and `eval(text)`: what it may have bound, set and changed.

Of a text that is written out its words are known: what it has no word for it leaves alone, as far as it is read here.
Follows no text.
"""

from __future__ import annotations

import re

from torchlint.model.autograd.writes import escape
from torchlint.model.python.callbacks import SETTING, may_be_set
from torchlint.model.python.flags import FLAGS, for_effect, text_is_run, unsettle
from torchlint.model.python.run import Run
from torchlint.model.state.call_site import CallSite
from torchlint.model.state.guards import Truth
from torchlint.model.state.values import NONE, Constant, Frame, Tensor, Unknown, Value, reachable_tensors

OF_TEXT = "builtins.eval"
"""What made a value that a text gives of which nobody knows a word: it may be anything, of torch too."""
_WORD = re.compile(r"\w+")


def run_text(run: Run, site: CallSite) -> Value:
    """`exec(text)`."""
    _call_out_of_sight(run)
    text_is_run(run)
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


def evaluate_text(run: Run, site: CallSite) -> Value:
    """`eval(text)`."""
    _call_out_of_sight(run)
    frame: Frame | None = run.machine.frame
    held: list[Tensor] = []
    while frame is not None:
        held += [tensor for value in frame.variables.values() for tensor in reachable_tensors(value)]
        frame = frame.enclosing
    escape(run.autograd, held, site.node)
    text = site.positional[0] if site.positional else None
    words = set(_WORD.findall(str(text.value))) if isinstance(text, Constant) else None
    calls = not isinstance(text, Constant) or "(" in str(text.value)
    if calls and for_effect(run, site.node):
        text_is_run(run)
    else:
        _in_text(run, words)
    # where nothing is recorded a text may be there to change that
    _may_set(run, text, effect=for_effect(run, site.node) or run.machine.grad_mode is Truth.NO)
    result = Unknown(held, source=site.node)
    result.made_by = OF_TEXT if words is None else ""
    return result
