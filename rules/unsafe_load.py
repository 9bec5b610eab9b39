from collections.abc import Iterator
from functools import partial

from torchlint.fixes.renames import CRAFTED, WEIGHTS_ONLY, loading_weights
from torchlint.model.events import Step, api
from torchlint.rule import Diagnostic, Example, Fix, Holds, Level, Observed, Rule


class UnsafeLoad(Rule):
    """
    A file is loaded with `torch.load` in a way that runs what the file says.

    ## What it does
    Finds `torch.load(…, weights_only=False)`, and `torch.load` that does not say `weights_only` where the target (see
    TLN901) reaches below torch 2.6: there that means False. What one release cures is one warning of a file. Silent
    without `weights_only` from torch 2.6 on, and for a value that is not written in the call. Strict where the target
    ends before torch 1.13, which has no `weights_only`; in tests; for a file that the same file or class, or one that
    is imported, writes, a trainer just wrote, or that lies beside the module; beside `pickle.load` in one function, or
    in an unpickler; where the project saves what is refused, under the same keys or names; where it sets
    `TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD`; for a `weights_only=False` that a comment gives a reason for; and for one, or a
    target before 2.6, where nothing says that weights are enough: `load_state_dict`, keys, names.

    ## Why is this bad?
    The file is unpickled, and a pickle can run anything: whoever can write the file, can run code where it is loaded.

    ## Cure
    `weights_only=True`, the default from torch 2.6 on, is enough for tensors and plain containers of them. It refuses
    modules, NumPy's values, `defaultdict`, `torch.__version__`, dates, paths, `Enum` members, objects: save a
    `state_dict()` and plain values, or allow a class by `add_safe_globals` (no `defaultdict`, no class of `dict`).

    ## Fix safety
    Unsafe: a file with other things in it is refused. None where the project is known to save such.

    ## Known limits
    What `functools.partial` or `**` gives is not seen. Of what is saved, plain assignments in one file are followed.

    ## References
    - [CVE-2025-32434](https://github.com/pytorch/pytorch/security/advisories/GHSA-53q9-r3pm-6pq6)
    - [CVE-2026-24747](https://github.com/pytorch/pytorch/security/advisories/GHSA-63cw-57p8-fm3p)
    """

    code = "TLN904"
    name = "unsafe-load"
    level = Level.WARNING
    fixes = "unsafe"
    may_be_strict = True
    bad = (
        Example(
            """
            import contextlib, io, pickle, torch
            class Surprise:
                def __reduce__(self):
                    return exec, ("import builtins; builtins.ran = True",)
            torch.save(object.__new__(Surprise), file := io.BytesIO())
            file.seek(0)
            def restored(file):
                state_dict = torch.load(file, weights_only=False)  # warning: [TLN904]
                return state_dict
            with contextlib.suppress(pickle.UnpicklingError):
                restored(file)
            """,
            shows=Holds("getattr(__import__('builtins'), 'ran', False)"),
            fixed="""
            import contextlib, io, pickle, torch
            class Surprise:
                def __reduce__(self):
                    return exec, ("import builtins; builtins.ran = True",)
            torch.save(object.__new__(Surprise), file := io.BytesIO())
            file.seek(0)
            def restored(file):
                state_dict = torch.load(file, weights_only=True)
                return state_dict
            with contextlib.suppress(pickle.UnpicklingError):
                restored(file)
            """,
        ),
    )
    good = (
        Example("import torch\nprint(torch.load)  # from torch 2.6 on: weights only"),
        Example(
            """
            # /// script
            # dependencies = ["torch>=2.0"]
            # ///
            from torch import load
            restored = lambda file: load(file, weights_only=True)
            """
        ),
    )

    def check(self, event: api.UnsafeLoad) -> Iterator[Diagnostic]:
        level, known, where = self.level, event.holds is not None and event.is_own, event.around
        doubtful = event.holds is not None and not known  # of another call: nobody can follow the advice
        if event.argument is not None:
            when = "with `weights_only=False` runs what the file tells it to"
            own = event.writes or known or event.is_meant or not event.is_weights
            claim = Observed("foreign-code", event.name)
        else:  # refused from 2.6 on: worth a word, and one of a file, as one release cures all of it
            allowed, where = event.target.allowing(event.target.oldest), where if event.holds else 0
            when = f"runs what the file tells it to before torch 2.6{allowed}"
            own, claim = event.writes and not known, Observed("other-release", event.name, "before 2.6")
            if event.writes and known:
                when, own = f"of what line {event.writes} writes", not event.target.reaches((2, 6))
        capped = event.argument is None and not event.target.reaches((2, 6))  # no release that is allowed refuses it
        told = event.is_weights or (event.holds is not None and not event.used)
        ours = event.is_ours or (event.is_beside_pickles and not event.writes) or (capped and not told)
        level = Level.STRICT if own or doubtful or ours or not event.target.reaches(WEIGHTS_ONLY) else level
        fix: partial[Fix | None] | None = partial(loading_weights, event)
        trace = event.trace
        if event.holds is not None:
            allowed, ways = event.holds.allowing, [event.holds.cure]
            if allowed and event.target.reaches((2, 4)):
                ways.append(f"or allow {allowed} by `torch.serialization.add_safe_globals`{_came(event, (2, 4))}")
            if event.writes and event.argument is None:
                ways.append("or say `weights_only=False`" + _came(event, WEIGHTS_ONLY))
            fix, trace = None, (*trace, *(Step(event.node, each) for each in ways))
        said = f"`{event.spelled}` {when}: {_remedy(event)}"
        yield Diagnostic(event.node, said, trace, fix, level, group=(where, said), others="call", claims=(claim,))


def _came(event: api.UnsafeLoad, came: tuple[int, int]) -> str:
    return f", which came with torch {came[0]}.{came[1]}" if event.target.begins_before(came) else ""


def _remedy(event: api.UnsafeLoad) -> str:
    target, holds = event.target, event.holds
    if not target.reaches(WEIGHTS_ONLY):
        return "no release that is allowed has `weights_only`; load only files that nobody else could write"
    default = event.argument is None and target.reaches((2, 6))
    if holds is not None and event.is_own:
        refuses = "torch refuses from 2.6 on" if default else "`weights_only=True` refuses"
        does = "uses it as" if event.used else "saves"
        return f"line {holds.line} {does} {holds.what}, which {refuses}; {holds.cure}{_without_floats(event)}"
    it = "`weights_only=True`, the default from 2.6 on," if default else "`weights_only=True`"
    if holds is not None:
        return f"{it} refuses {holds.what} ({holds.where}); {holds.cure}{_without_floats(event)}"
    said = f"{it} takes little but tensors and Python's numbers, texts, lists and dicts"
    harms = [each for each in CRAFTED if target.begins_before(each[0])]
    cures = [target.with_python(each[0]) for each in harms if target.reaches(each[0])]
    harmful = " and ".join(f"{does} before torch {a}.{b} ({cve})" for (a, b), does, cve in harms)
    said += f". If it holds no others, raise the lower end to torch {cures[-1]}:" if cures else ";" if harms else ""
    said += f" in spite of it, a crafted file {harmful}" if harms else ""
    return said + _without_floats(event)


def _without_floats(event: api.UnsafeLoad) -> str:
    """What of the remedy is not there on the oldest releases that are allowed."""
    if event.target.begins_before(WEIGHTS_ONLY):
        return "; torch before 1.13 has no `weights_only`"
    return "; that of torch 1.13 refuses floats" if event.target.begins_before((2, 0)) else ""
