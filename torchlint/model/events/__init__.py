"""
What the model reports: one frozen dataclass per kind of thing that happens in a program.

Events are neutral: they say what happens, never whether it is wrong. A rule subscribes to a kind by
annotating its `check` method with it. Every event carries the CST node it happened at, the trace that
leads to it, and how sure the model is; the engine shows a rule only events whose truth is YES.

Here are the events of the graph itself; the families of facts that observers report (`torchlint.model.observers`)
have a module each beside this one. Words are PyTorch's.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from torchlint.condition import Condition
from torchlint.model.events.trace import Carried as Carried
from torchlint.model.events.trace import Step as Step
from torchlint.record import record
from torchlint.syntax import cst
from torchlint.truth import Truth

Shape: TypeAlias = "tuple[int | None, ...] | None"
"""Sizes, `None` for an unknown size; `None` instead of the tuple when even the rank is unknown."""


@record(frozen=True, kw_only=True)
class TensorFacts:
    """
    What is known of a tensor at the moment of an event.

    Attributes
    ----------
    name
        How the program calls it at this place (`c`, `self.h`, `x.grad`), or "" for a bare expression.
    shape
        Its shape as far as known.
    requires_grad, is_leaf
        As `Tensor.requires_grad` and `Tensor.is_leaf`.
    is_parameter
        Whether it is an `nn.Parameter`.
    grad_fn
        The name of its graph node (`MulBackward0`), or "".
    created
        The step that made it, if it was seen.
    view
        What kind of view it is: "view", "multi" (one of several outputs of `unbind`, `split`, `chunk`), "no_grad" (made
        under `no_grad`), "custom" (returned by a custom Function that was given what it views), or "" for no view.
    """

    name: str
    shape: Shape = None
    requires_grad: Truth = Truth.MAYBE
    is_leaf: Truth = Truth.MAYBE
    is_parameter: Truth = Truth.MAYBE
    grad_fn: str = ""
    created: Step | None = None
    view: str = ""


@record(frozen=True, kw_only=True)
class Event:
    """
    Something that happens in the program.

    Attributes
    ----------
    node
        The smallest expression or statement it happens at: where a finding points.
    statement
        The statement line that holds `node` (`cst.SimpleStatementLine`, or a compound statement): what a fix replaces.
    trace
        The steps that lead here, oldest first.
    truth
        YES: on every path of the program that comes here (loops: in the first or the second iteration).
    conditions
        What else must hold for this to happen: inputs of the analysed `forward` that require grad, the arm of a branch;
        empty for a full proof. A finding that rests on one is a warning, never an error.
    unseen_class
        What nobody knows of a class of the program, by whose methods or objects the proof goes, as a message may show
        it: a decorator, a base, a hook, or the call by which unknown code got at the class or the object. What would be
        an error then is a warning that names it; nothing else changes.
    moment
        When in the run: of two events of one entry point, the one with the smaller moment happens first (for a
        `SavedTensorRead` it is the moment of the backward). 0 where it does not matter.
    """

    node: cst.CSTNode
    statement: cst.CSTNode
    trace: tuple[Step, ...] = ()
    truth: Truth = Truth.YES
    conditions: tuple[Condition, ...] = ()
    unseen_class: str = ""
    moment: int = 0


@record(frozen=True, kw_only=True)
class EntryLost(Event):
    """
    The model failed while it followed one of its entry points: what it would have said of that one is lost.

    Attributes
    ----------
    name
        The entry point: "the script", "`main`", "`Net.forward`".
    error
        The exception in one line.
    """

    name: str
    error: str


@record(frozen=True, kw_only=True)
class ScriptCut(Event):
    """
    The file as a script is longer than what is followed of one entry point: what it does and defines from this
    statement on is not known.
    """


@record(frozen=True, kw_only=True)
class OpCalled(Event):
    """
    A call whose callee resolves to a name of torch: function, class, or method of a known tensor.

    Attributes
    ----------
    name
        Qualified: `torch.nn.functional.relu`, `torch.nn.Linear`, `torch.Tensor.mul_`.
    call
        The call (operators do not raise this event).
    arguments
        Per positional argument or keyword: what is known of it, `None` where it is no tensor.
    """

    name: str
    call: cst.Call
    arguments: tuple[tuple[str | int, TensorFacts | None], ...] = ()


WrittenPart: TypeAlias = Literal["mask", "places", "round", "part", ""]
"""What an index names: what a mask selects, the places in a tensor or list, a part (`round`: another each round)."""
WriteSpelling: TypeAlias = Literal[
    "method", "function", "augmented", "indexed", "out", "inplace", "optimizer", "backward"
]
"""
How a write is written: `c.mul_(2)`, `torch.relu_(c)` / `nn.init.zeros_(c)`, `c *= 2`, `c[0] = 1` or `c[0] += 1`,
`torch.add(a, b, out=c)`, `F.relu(c, inplace=True)` or a module built with `inplace=True`, `optimizer.step()`;
"backward": a second `backward()` adds to a `.grad` that is there (only in a `SavedTensorRead`).
"""


@record(frozen=True, kw_only=True)
class InplaceWrite(Event):
    """
    A tensor's memory is written in place. Raised once per write, after the whole program was followed,
    so that it can say what became of the old value.

    Attributes
    ----------
    op
        As written: `mul_`, `*=`, `[...] =`, `relu_`, `add(out=...)`.
    spelling
        See `WriteSpelling`.
    target
        The tensor written, before the write.
    target_node
        The expression that names it.
    leaf_raises
        YES: torch refuses, the target is a leaf that requires grad, or a view of one, and grad mode is on.
    leaf_view
        Whether it is refused as a view of a leaf rather than the leaf itself.
    outdated
        Whether it is refused as a view that torch takes for a leaf: its base was written in the graph since.
    in_graph
        YES: after the write the tensor is part of a recorded graph (it was, or the written value is).
    old_value_in_graph
        YES: the tensor was already recorded (has a `grad_fn`) before the write.
    old_value_needed
        YES: some operation saved the old value. NO: proven that none did. MAYBE: an unknown one may have.
    saved_by
        The steps of the operations that saved the old value.
    broken
        YES: a backward reads the overwritten value (a `SavedTensorRead` reports that one).
    value_in_graph
        For `indexed` writes: whether the assigned value requires grad.
    target_is_view
        Whether the target is a view of another tensor, whose memory the write changes, too.
    made
        Where the memory that is written was made.
    filled
        The write cannot harm: nothing saved what was overwritten to this memory, and no part of it was read between
        its writes; or none of the function's results has a graph.
    handed
        Before the write, what may be a layer that nobody knows, or an operation with parameters, was given the memory.
    index
        See `WrittenPart`; "" for other writes.
    grad_mode
        Whether it was on at the write: where it is off, a new tensor in the written one's place has no graph.
    for_inference
        By its names (`beam_search`, `if not self.training`) it is where nobody differentiates, or all calls of the
        function that the project makes are with grad mode off (`torchlint.lint.grad_modes`).
    only_off
        The latter: all calls that are in sight. Of a leaf that is asked only where grad mode is a condition.
    """

    op: str
    spelling: WriteSpelling
    target: TensorFacts
    target_node: cst.BaseExpression
    leaf_raises: Truth
    leaf_view: Truth
    in_graph: Truth
    old_value_in_graph: Truth
    old_value_needed: Truth
    saved_by: tuple[Step, ...]
    broken: Truth
    value_in_graph: Truth
    target_is_view: Truth = Truth.MAYBE
    made: cst.CSTNode | None = None
    filled: bool = False
    handed: bool = False
    outdated: bool = False
    index: WrittenPart = ""
    grad_mode: Truth = Truth.MAYBE
    for_inference: bool = False
    only_off: bool = False


@record(frozen=True, kw_only=True)
class SavedTensorRead(Event):
    """
    A backward reads a tensor that an operation saved, and the tensor's version is no longer the saved one.
    `node` and `statement` are those of the first write after the save (the culprit), not of the backward.

    Attributes
    ----------
    saver
        The operation that saved it: `sigmoid`, `*`, `conv2d`.
    saved
        What of it: "its result", "its input" (with the user's name where there is one: "its input `w`").
    name
        The user's name for the saved tensor.
    write_op, spelling, grad_mode, for_inference
        As in `InplaceWrite`; the last only where the backward is implicit.
    target
        The tensor through which it was written.
    target_node
        The expression that names it.
    through
        "" for the tensor itself, else what it was written through: "view", "detach", "base".
    backward
        The step of the backward that reads it; for a `forward` analysed on its own, the return.
    implicit
        The backward is the caller's: the value is returned from a Module's `forward`.
    """

    saver: str
    saved: str
    name: str
    write_op: str
    spelling: WriteSpelling
    target: TensorFacts
    target_node: cst.BaseExpression
    through: str
    backward: Step
    implicit: bool
    grad_mode: Truth = Truth.MAYBE
    for_inference: bool = False


BackwardCallee: TypeAlias = Literal["backward", "autograd.backward", "autograd.grad"]


@record(frozen=True, kw_only=True)
class BackwardCalled(Event):
    """
    A backward pass starts: `t.backward(...)`, `torch.autograd.backward(t)`, `torch.autograd.grad(t, ...)`.

    Attributes
    ----------
    callee
        Which of the three: "backward", "autograd.backward" or "autograd.grad".
    root
        The tensor differentiated.
    root_node
        The expression that names it.
    is_scalar
        Whether the root has exactly one element.
    gradient_given
        Whether a `gradient=` / `grad_outputs=` other than None is passed.
    cut
        Why the root does not require grad, if it does not: "`x` is made from data alone", "`.item()`",
        "under `no_grad`", "`detach()`", "`argmax` is not differentiable"; else "".
    recorded
        Whether the root has a `grad_fn` or is a leaf that requires grad. A view made under `no_grad` of a tensor that
        requires grad requires grad and is not recorded: torch refuses to differentiate it.
    """

    callee: BackwardCallee
    root: TensorFacts
    root_node: cst.BaseExpression
    is_scalar: Truth
    gradient_given: Truth
    cut: str = ""
    recorded: Truth = Truth.MAYBE


@record(frozen=True, kw_only=True)
class FreedGraphRead(Event):
    """
    A backward comes to a node of the graph that an earlier backward has freed.

    Attributes
    ----------
    root
        The tensor differentiated now.
    op
        The operation of the freed node: `*`, `conv2d`.
    result
        The user's name of that operation's result, or "".
    saves
        YES: the node had saved tensors, so torch raises. NO: it had none; the gradient is accumulated once more.
    freed_by
        The step of the backward that freed it.
    same_call, same_root
        The freeing backward and this one are the same call, in two iterations of a loop; start at the same tensor.
    unseen
        The freed graph is the work of code nobody knows, which returned the root: it has saved what it needs, unless it
        needs nothing; then the gradient is accumulated twice.
    built_in_init
        The freed node was recorded in a Module's `__init__`.
    freeing_statement
        The statement of the backward that freed it.
    carried, built_before
        The state that brings the freed graph from one iteration of a loop into the next; None: not one, or not known.
        The names of what certainly was recorded before the loop and is read in each iteration, if `same_call`.
    consecutive
        `statement` directly follows `freeing_statement` in the same block.
    """

    root: TensorFacts
    op: str
    result: str
    saves: Truth
    freed_by: Step
    same_call: bool
    same_root: bool
    built_in_init: bool
    freeing_statement: cst.CSTNode
    carried: Carried | None = None
    built_before: tuple[str, ...] = ()
    consecutive: bool = False
    unseen: bool = False


Refusal: TypeAlias = Literal[
    "multi-view", "no-grad-view", "custom-view", "detach-view", "flag-on-non-leaf", "numpy", "deepcopy", "unused",
    "optimizer", "retain-grad", "out", "hook", "accumulated-hook", "integers", "gradient-shape", "gradient-kind",
    "no-derivative", "parameter-twice", "inference", "inference-write", "not-called",
]  # fmt: skip
"""
Why torch raises: a write into one of several views that one operation returned (`unbind`, `split`, `chunk`), or into a
view made under `no_grad`, or that a custom Function returned (or use of that view after its base was written);
`detach_()` of a view; `requires_grad` set on a non-leaf; `numpy()`, `deepcopy` of a graph tensor; an input of
`autograd.grad` that the root does not depend on, or that requires no grad; an optimizer over a non-leaf;
`retain_grad()`, `register_hook` without requires_grad; `out=` among tensors that require grad; a tensor of integers or
booleans told to require grad; a hook on what has been accumulated, on a non-leaf; a gradient given, or assigned to
`.grad`, of another shape or kind of number than the tensor; a backward through an operation without a derivative; a
tensor in two groups of an optimizer; one made in inference mode is saved, told to require grad, or written outside; a
backward of a loss's layer that was never called.
"""


@record(frozen=True, kw_only=True)
class AutogradRefused(Event):
    """
    Torch raises here, because of what the tensor is in the graph.

    Attributes
    ----------
    kind
        See `Refusal`.
    op
        As written: `add_`, `numpy()`, `autograd.grad`, `requires_grad`.
    target
        The tensor concerned.
    target_node
        The expression that names it, if there is one.
    """

    kind: Refusal
    op: str
    target: TensorFacts
    target_node: cst.BaseExpression | None = None


RetainedUse: TypeAlias = Literal[
    "unread", "shared", "again", "stepped", "turns", "broken", "apart", "carried", "repeated", "unknown"
]


@record(frozen=True, kw_only=True)
class GraphRetained(Event):
    """
    A backward was called with `retain_graph=True`. Raised after the whole program was followed.

    Attributes
    ----------
    argument, call
        The `retain_graph=True` argument, and the call that has it.
    root
        The tensor differentiated.
    use
        "unread": proven that no later backward reads the retained graph. "shared": another backward of the same
        iteration reads it (two losses, one graph); "again": it is of the same loss; "stepped": after a step of an
        optimizer; "turns": another optimizer steps for it, with a `zero_grad` in between; "broken": a step in between
        has overwritten what it reads, which `SavedTensorRead` tells. "apart": it does so for the gradients of other
        tensors, for one result with several gradients, for a gradient that the first one's result went into, or where
        those are cleared. "carried": a backward of a later iteration reads it through a state that is carried over.
        "repeated": the same call reads it in a later iteration, a graph built before the loop (the rows of a Jacobian).
        "unknown": the model cannot tell.
    readers
        The steps of the backwards that read the retained graph.
    carried
        As in `FreedGraphRead`, where `use` is "carried".
    next_statement
        The statement of the one backward that reads it, if that directly follows `statement` in the same block.
    only
        No other backward and no `grad(...)` is written in the file, and this one is not of a part (`rows[i]`), so that
        nobody in the file can read the graph again.
    grad_mode
        Grad mode where it was called: without it a sum of losses has no graph.
    """

    argument: cst.Arg
    call: cst.Call
    root: TensorFacts
    use: RetainedUse
    readers: tuple[Step, ...]
    carried: Carried | None = None
    next_statement: cst.CSTNode | None = None
    only: bool = False
    grad_mode: Truth = Truth.MAYBE

    @property
    def adds_up(self) -> bool:
        """Whether a sum of what is differentiated has a graph there, and place for all that is given."""
        calls = [self.call, *(each.node for each in self.readers if isinstance(each.node, cst.Call))]
        given = any(each.keyword is None or each.keyword.value == "gradient" for call in calls for each in call.args)
        return self.grad_mode is not Truth.NO and not given


@record(frozen=True, kw_only=True)
class AliasWritten(Event):
    """
    A tensor cut from the graph without a copy (`detach()`, `.data`, `.numpy()`, `torch.from_numpy`) shares memory with
    its source, and one of the two is written while the other is used afterwards.
    `node` and `statement` are those of the write.

    Attributes
    ----------
    how
        As written: "detach()", ".data", "numpy()", "torch.from_numpy()".
    alias, source
        The user's names of both.
    alias_node, alias_statement
        The expression that made the alias (`c.detach()`), where a `.clone()` belongs, and its statement.
    written
        Which of the two is written; the other changes too.
    read
        The step where the other one is used afterwards.
    source_is_leaf
        Whether the source is a leaf: writing to one through its alias is how optimizers were written by hand.
    """

    how: str
    alias: str
    source: str
    alias_node: cst.BaseExpression
    alias_statement: cst.CSTNode
    written: Literal["alias", "source"]
    read: Step
    source_is_leaf: Truth = Truth.MAYBE


@record(frozen=True, kw_only=True)
class ParameterDerived(Event):
    """
    An attribute of a Module is set to the result of an operation on a fresh `nn.Parameter`, which is no Parameter.

    Attributes
    ----------
    attribute
        `weights` in `self.weights = nn.Parameter(e) ** 2`.
    module
        The class.
    op
        The operation applied last: `**`, `to`, `view`.
    parameter_node
        The `nn.Parameter(...)` call.
    value_node
        The whole right-hand side.
    """

    attribute: str
    module: str
    op: str
    parameter_node: cst.Call
    value_node: cst.BaseExpression


@record(frozen=True, kw_only=True)
class ResultDropped(Event):
    """
    An expression statement computes a tensor and drops it: nothing happens.

    Attributes
    ----------
    op
        As written: `masked_fill`, `detach`, `torch.allclose`.
    receiver, call
        The tensor it is called on, and the call.
    inplace_twin
        `masked_fill_` where the method has an in-place form, else "".
    """

    op: str
    receiver: TensorFacts
    inplace_twin: str
    call: cst.Call
