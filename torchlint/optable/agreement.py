"""
Holds the operation table against running torch.

    python -m torchlint.optable.agreement               the committed table, every call there is
    python -m torchlint.optable.agreement --held-out    a table fitted to one half of the calls, tried on the other

For each call the table is asked what `torchlint.knowledge.ops.find.select` would tell a linter, once knowing only the
kinds of the arguments and once knowing their values, ranks, dtypes and layouts; then the call is run. A fact counts as
agreed, as wrong, or as left open (the table says MAYBE).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import torch

from torchlint.knowledge.ops import find as ops
from torchlint.knowledge.ops.find import Binding, Known, Op
from torchlint.optable.__main__ import calls_by_spelling, complete_table, halves, render
from torchlint.optable.probe import Call, Observation, Slot, observe_all
from torchlint.optable.samples import kind_of
from torchlint.truth import Truth

# (spelling, topic) -> why the table and this measurement differ, and the table is right.
EXPLAINED: Mapping[tuple[str, str], str] = {
    (
        "setitem.basic",
        "second backward",
    ): "the table has the copy into the view; that it goes through one is CopySlices",
    ("setitem.basic", "node"): "as above: the tensor itself gets CopySlices, the view CopyBackwards",
}


@dataclass(frozen=True, slots=True)
class Fact:
    """
    One thing the table says of a call, and what torch showed.

    Attributes
    ----------
    topic
        "saves", "second backward", "writes", "shares memory", "requires grad", "node" or "view".
    detail
        Of which argument or result.
    said
        By the table.
    seen
        By running.
    """

    topic: str
    detail: str
    said: Truth
    seen: Truth

    @property
    def wrong(self) -> bool:
        """Whether the table is sure of something that is not so."""
        return self.said is not Truth.MAYBE and self.said is not self.seen


def calls(limit: int, every_layout: bool = True, held_out: bool = False) -> Iterator[tuple[str, Call]]:
    """
    Spellings and calls to try.

    Parameters
    ----------
    limit
        At most so many of OpInfo's samples per operation.
    every_layout
        Composed operations also with matrices that are not contiguous.
    held_out
        Of composed operations only the second of the `halves`.
    """
    for spelling, tried in calls_by_spelling(limit).items():
        composed = any(op.probed for op in ops.find(spelling))
        if composed and (every_layout or held_out):
            first, second = halves(spelling, tried)
            tried = second if held_out else first + second
        yield from ((spelling, call) for call in tried)


def choose(spelling: str, call: Call, informed: bool) -> tuple[Op, Binding] | None:
    """What the table has for a call; `informed`: knowing values, ranks, dtypes and layouts too."""
    positional = [kind_of(value) for value in call.positional]
    keywords = {name: kind_of(value) for name, value in call.keywords.items()}
    arguments: list[tuple[int | str, object]] = [*enumerate(call.positional), *call.keywords.items()]
    known = {place: known_of(value) for place, value in arguments} if informed else None
    return ops.select(spelling, positional, keywords, known)


def known_of(value: object) -> Known:
    """All that `Known` can tell of a value."""
    if isinstance(value, torch.Tensor):
        return Known(rank=value.dim(), contiguous=value.is_contiguous(), dtype=str(value.dtype))
    return Known(value=str(value) if isinstance(value, torch.dtype) else value)


def facts(op: Op, binding: Binding, call: Call, seen: Observation) -> Iterator[Fact]:
    """Everything the table says of one run."""
    names = names_of(op, binding, call)
    partly = {names[slot] for slot in call.slots() if slot not in seen.requires}
    asked = {names[slot] for slot in seen.requires}
    recorded = Truth.NO
    if asked & set(op.differentiable):
        recorded = Truth.YES
    elif asked & set(op.perhaps_differentiable):
        recorded = Truth.MAYBE
    saved = {what: recorded & saved_truth(op, what, asked, partly) for what in _whats(op)}
    shared = dict(op.aliases)
    outputs = op.outputs * len(seen.outputs) if op.sequence else op.outputs
    results = [_result(at, len(op.outputs), op.sequence) for at in range(len(seen.outputs))]

    for slot, name in names.items():
        said = saved.get(name, Truth.NO)
        if op.returns_self and name in op.writes:
            said = saved.get("result", Truth.NO)
        for result in set(results):
            said = said | (saved.get(result, Truth.NO) & shared.get(name, Truth.NO))
        if seen.derivable:
            yield Fact("saves", f"{name} {slot[1]}", said, _seen(seen.saved.get(slot, "no")))
        yield Fact("writes", name, Truth.of(name in op.writes), Truth.of(slot in seen.written))
        if not op.returns_self:
            shares = Truth.of(slot in seen.counted) if slot in seen.counted or slot not in seen.shares else Truth.MAYBE
            yield Fact("shares memory", name, shared.get(name, Truth.NO), shares)
    for at, result in enumerate(results):
        said = saved.get(result, Truth.NO)
        for name, shares in shared.items():
            said = said | (saved.get(name, Truth.NO) & shares)
        if op.returns_self:
            said = saved.get("result", Truth.NO)
        if seen.derivable:
            yield Fact("saves", result, said, _seen(seen.saved.get(at, "no")))
        expected = recorded if at < len(outputs) and outputs[at] else Truth.NO
        if op.returns_self:
            expected = recorded | Truth.of(seen.same in seen.requires)
        elif op.sequence and asked & partly:
            expected = Truth.MAYBE  # each result may depend on one element of the list only
        yield Fact("requires grad", result, expected, Truth.of(seen.outputs[at]))
    held = op.holds_saved
    if held is Truth.MAYBE and Truth.YES in saved.values():
        held = Truth.YES
    if seen.derivable:
        yield Fact("second backward", "", recorded & held, _seen(seen.holds))
    if op.node and seen.node and recorded is Truth.YES:
        yield Fact("node", f"{op.node} / {seen.node}", Truth.YES, Truth.of(op.node == seen.node))
    if op.view and seen.view:
        yield Fact("view", f"{op.view} / {seen.view}", Truth.YES, Truth.of(op.view == seen.view))


def names_of(op: Op, binding: Binding, call: Call) -> dict[Slot, str]:
    """Per tensor of the call, the parameter that gets it."""
    places = {place: name for name, place in binding.items()}
    variadic = next((parameter.name for parameter in op.parameters if parameter.variadic), "")
    return {slot: places.get(slot[0], variadic) for slot in call.slots()}


def saved_truth(op: Op, what: str, asked: Iterable[str], partly: Iterable[str]) -> Truth:
    """Whether `what` is saved, if these parameters require grad (`partly`: of which not every tensor does)."""
    truth = Truth.NO
    for saved in op.saves:
        if saved.what == what:
            guard = set(saved.guard)
            held = Truth.YES if not guard or guard & (set(asked) - set(partly)) else Truth.NO
            if held is Truth.NO and guard & set(asked):
                held = Truth.MAYBE
            truth = truth | (held if saved.certain else Truth.MAYBE)
    return truth


def _whats(op: Op) -> set[str]:
    return {saved.what for saved in op.saves}


def _result(at: int, outputs: int, sequence: bool) -> str:
    return f"result{at}" if outputs > 1 and not sequence else "result"


def _seen(verdict: str) -> Truth:
    return {"yes": Truth.YES, "no": Truth.NO, "mixed": Truth.MAYBE}[verdict]


@dataclass(slots=True)
class Tally:
    """Counts per topic, and each different disagreement with how often it occurs."""

    agreed: Counter[str]
    open: Counter[str]
    wrong: Counter[tuple[str, str, str, str]]
    unknown: Counter[str]
    spellings: set[str]

    def count(self, spelling: str, said: Iterable[Fact]) -> None:
        """Adds what was found of one run."""
        self.spellings.add(spelling)
        for fact in said:
            if fact.wrong:
                self.wrong[spelling, fact.topic, fact.detail, f"table {fact.said.name}, torch {fact.seen.name}"] += 1
            elif fact.said is Truth.MAYBE:
                self.open[fact.topic] += 1
            else:
                self.agreed[fact.topic] += 1

    def unexplained(self) -> list[str]:
        """The disagreements that `EXPLAINED` does not list, most frequent first."""
        return [
            f"{count:5} {spelling}: {topic} {detail}: {verdict}"
            for (spelling, topic, detail, verdict), count in self.wrong.most_common()
            if (spelling, topic) not in EXPLAINED
        ]

    def lines(self) -> Iterator[str]:
        """The figures as text."""
        wrong: Counter[str] = Counter()
        for (_, topic, _, _), count in self.wrong.items():
            wrong[topic] += count
        yield f"{'':18}{'agree':>9}{'wrong':>8}{'open':>8}"
        for topic in sorted(self.agreed):
            yield f"{topic:18}{self.agreed[topic]:9}{wrong[topic]:8}{self.open[topic]:8}"
        agreed, failed = sum(self.agreed.values()), sum(wrong.values())
        yield (
            f"{agreed} of {agreed + failed} facts right ({100 * agreed / max(1, agreed + failed):.3f} %), "
            f"{sum(self.open.values())} left open; {len(self.spellings)} spellings; "
            f"{sum(self.unknown.values())} calls of {len(self.unknown)} spellings not in the table"
        )


def measure(tried: Iterable[tuple[str, Call]]) -> dict[bool, Tally]:
    """Runs the calls and counts, for a table that is asked informed (True) and uninformed (False)."""
    tallies = {informed: Tally(Counter(), Counter(), Counter(), Counter(), set()) for informed in (False, True)}
    for spelling, call in tried:
        chosen = {informed: choose(spelling, call, informed) for informed in tallies}
        observed = list(observe_all(call)) if any(chosen.values()) else []
        for informed, tally in tallies.items():
            one = chosen[informed]
            if one is None:
                tally.unknown[spelling] += 1
                continue
            for seen in observed:
                tally.count(spelling, facts(*one, call, seen))
    return tallies


def main(arguments: list[str] | None = None) -> int:
    """The command; exit status 1 where a fact is wrong that `EXPLAINED` does not list."""
    parser = argparse.ArgumentParser(prog="python -m torchlint.optable.agreement", description=__doc__)
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--samples", type=int, default=10, help="at most so many OpInfo samples per operation")
    parser.add_argument("--show", type=int, default=40, help="how many disagreements to list")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    status = 0
    with tempfile.TemporaryDirectory() as folder:
        if options.held_out:
            table = Path(folder) / "op_table.json"
            table.write_text(render(complete_table(options.samples, held_out=True)), encoding="utf-8")
            ops.use_table(table)
        for informed, tally in measure(calls(options.samples, held_out=options.held_out)).items():
            print("knowing values, ranks, dtypes, layouts:" if informed else "knowing kinds of arguments only:")
            print("\n".join(tally.lines()))
            for (spelling, topic), reason in EXPLAINED.items():
                count = sum(n for (s, t, *_), n in tally.wrong.items() if (s, t) == (spelling, topic))
                print(f"{count} of the wrong ones are {spelling}, {topic}: {reason}")
            unexplained = tally.unexplained()
            print("\n".join(unexplained[: options.show]))
            status = status or int(bool(unexplained))
    return status


if __name__ == "__main__":
    sys.exit(main())
