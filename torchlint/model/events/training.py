"""
Events of the training loop: the order of forward, backward, `step` and `zero_grad`, and the mode a model is in.

Raised by `torchlint.model.observers.training`. An optimizer is one of `torch.optim`, or an unknown value
whose `step` is called and whose name says that it is one.
"""

from __future__ import annotations

from typing import Literal

from torchlint.model.events import Event
from torchlint.model.events.trace import Step
from torchlint.record import record
from torchlint.syntax import cst
from torchlint.truth import Truth


@record(frozen=True, kw_only=True)
class GradientsCarried(Event):
    """
    In a loop, `optimizer.step()` uses a gradient to which the previous iteration's backward, already stepped with,
    was added. `node` is the call of `step`.

    Attributes
    ----------
    optimizer
        How the program calls it.
    backward
        The step of the backward that accumulates.
    zeroed
        "never": nothing in sight zeroes the gradients before the step. "outside": something does, but not in this loop.
    nameable
        `optimizer` is a dotted name that means the same object where `step` stands.
    known
        The optimizer was made in sight, so that it is known what its `step` does. Another one's may zero as well.
    """

    optimizer: str
    backward: Step
    zeroed: Literal["never", "outside"]
    nameable: bool
    known: bool


@record(frozen=True, kw_only=True)
class GradientsDiscarded(Event):
    """
    A loop accumulates gradients for a later `step`, and each iteration zeroes those of the one before. `node` is the
    zeroing.

    Attributes
    ----------
    optimizer
        How the program calls it.
    backward
        The step of the backward whose gradients are lost.
    """

    optimizer: str
    backward: Step


@record(frozen=True, kw_only=True)
class SteppedWithoutGradients(Event):
    """
    `optimizer.step()` follows a zeroing, with no backward between them. `node` is the call of `step`.

    Attributes
    ----------
    optimizer
        How the program calls it.
    backward
        The step of the backward: the one whose gradients were zeroed ("before"), or the one that comes too late
        ("after").
    when
        Where that backward stands.
    zeroing, zeroing_statement
        The call that zeroes, and its statement.
    backward_statement
        The statement of the backward.
    together
        All three are statements of one block.
    """

    optimizer: str
    backward: Step
    when: Literal["before", "after"]
    zeroing: cst.CSTNode
    zeroing_statement: cst.CSTNode
    backward_statement: cst.CSTNode
    together: bool


@record(frozen=True, kw_only=True)
class CalledOutOfOrder(Event):
    """
    A call that belongs before or after `optimizer.step()` stands on the wrong side. `node` is that call.

    Attributes
    ----------
    what
        "clip-after-step": clipping gradients that were stepped with. "clip-before-unscale": clipping gradients that a
        gradient scaler has scaled. "schedule-before-step": a learning-rate scheduler's first step comes before the
        optimizer's.
    call
        How the program writes the callee: `clip_grad_norm_`, `scheduler.step`.
    optimizer, scaler
        How the program calls them; "" if there is none.
    other
        The statement of `optimizer.step()`.
    together
        Both are statements of one block.
    named
        How the program calls the scheduler, where its name alone says that it is one: it may be no class of torch.
    """

    what: Literal["clip-after-step", "clip-before-unscale", "schedule-before-step"]
    call: str
    optimizer: str
    scaler: str
    other: cst.CSTNode
    together: bool
    named: str = ""


@record(frozen=True, kw_only=True)
class TrainedInEvalMode(Event):
    """
    A training loop sets a model to evaluation mode and nothing sets it back: from the second iteration on it trains
    in that mode. `node` is the call of `eval`.

    Attributes
    ----------
    module
        How the program calls the model there.
    first
        The first statement of the loop's body if it is a simple one of the same function, before which `train()`
        belongs.
    certain
        The model is known to hold a layer for which the mode makes a difference.
    """

    module: str
    first: cst.CSTNode | None
    certain: bool


@record(frozen=True, kw_only=True)
class EvaluatedWithGraph(Event):
    """
    A loop calls a model in evaluation mode while gradients are recorded, and no backward follows. `node` is the first
    such call.

    Attributes
    ----------
    module
        How the program calls the model there.
    loop
        The loop.
    unknown
        Nobody knows the model's class: its `forward` may take gradients itself, which it can't under `no_grad`.
    trains
        The same loop may go backward on another path, or step an optimizer, which `no_grad` around it would break.
    skips
        A backward is written in the loop: on the path of the call it isn't run.
    tried
        The loop only tries the model out: it runs a few times, on what it is given each time, or for who types.
    """

    module: str
    loop: cst.CSTNode
    unknown: bool = False
    trains: bool = False
    skips: bool = False
    tried: bool = False


@record(frozen=True, kw_only=True)
class ModelKept(Event):
    """
    A name with "best" in it is bound to a model itself, in a loop that trains this model, and read after the loop.
    `node` is the expression that stands for the model.

    Attributes
    ----------
    name
        What it is kept under.
    model
        How the program calls the model there.
    value_node
        The same as `node`.
    """

    name: str
    model: str
    value_node: cst.BaseExpression


@record(frozen=True, kw_only=True)
class LossDropped(Event):
    """
    A loss is computed while gradients are recorded, and nothing reads it. `node` is the expression that computes it.

    Attributes
    ----------
    name
        The name that it is bound to.
    how
        "overwritten": the name is bound anew before anything reads it. "unread": nothing in its scope reads the name.
        "iterations": a loop binds the name anew in each iteration, and a backward after the loop starts at the last.
    other
        The step that overwrites it, or that differentiates another loss in its stead; None if that returns one.
    function
        The function it stands in; "" in the file itself.
    requires_grad
        Whether it is known to require grad.
    for_inference
        The project calls its function with grad mode off alone.
    """

    name: str
    how: Literal["overwritten", "unread", "iterations"]
    other: Step | None
    function: str
    requires_grad: Truth
    for_inference: bool = False
