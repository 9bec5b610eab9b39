from collections.abc import Iterator

from torchlint.fixes.rewrites import code, followed_by
from torchlint.model.events import data
from torchlint.rule import Diagnostic, Edit, Example, Fix, Holds, Level, Observed, Rule


class SeedIncomplete(Rule):
    """
    A script seeds torch's random generator, and draws from another one that nothing seeds, or from the same one before.

    ## What it does
    Finds `torch.manual_seed` in a script whose file also draws from the global generator of `random` or of NumPy, and
    calls nothing that seeds it; and the only `torch.manual_seed` of a script behind the model whose parameters it
    should have governed, or behind `random_split`.

    ## Why is this bad?
    The run is meant to be repeatable, and is not: each of the three has a state of its own, and what was drawn before
    the seed is another one each time.

    ## Cure
    `random.seed(…)`, `np.random.seed(…)` beside it; better, a generator made for the purpose
    (`np.random.default_rng(seed)`). Seed first, before anything is made.

    ## Fix safety
    Unsafe: other numbers are drawn.

    ## Known limits
    Silent where anything else with "seed" in its name is called, in files that are no script, and for draws in a
    dataset or in a `collate_fn`: in the workers of a loader torch seeds all three. A late seed is told only of
    statements in one block, and of a model only where nothing gives it other parameters (`load_state_dict`,
    `from_pretrained`).

    ## References
    - [Reproducibility](https://docs.pytorch.org/docs/stable/notes/randomness.html)
    """

    code = "TLN808"
    name = "seed-incomplete"
    level = Level.STRICT
    fixes = "unsafe"
    bad = (
        Example(
            """
            import numpy as np
            import torch

            drawn = []
            for run in range(2):
                torch.manual_seed(7)  # strict: [TLN808]
                drawn.append(np.random.permutation(1000))
            same = (drawn[0] == drawn[1]).all()
            """,
            shows=Holds("not same"),
            fixed="""
            import numpy as np
            import torch

            drawn = []
            for run in range(2):
                torch.manual_seed(7)
                np.random.seed(7)
                drawn.append(np.random.permutation(1000))
            same = (drawn[0] == drawn[1]).all()
            """,
            strict=True,
        ),
        Example(
            """
            import torch

            model = torch.nn.Linear(3, 1)  # note: drawn here, before
            torch.manual_seed(7)  # strict: [TLN808]
            again = torch.nn.Linear(3, 1)
            """,
            shows=Holds("not torch.equal(model.weight, again.weight)"),
            strict=True,
        ),
    )
    good = (
        Example(
            """
            import numpy as np
            import torch

            torch.manual_seed(7)
            rng = np.random.default_rng(7)
            order = rng.permutation(10)
            """
        ),
    )

    def check(self, event: data.GeneratorNotSeeded | data.SeededLate) -> Iterator[Diagnostic]:
        if isinstance(event, data.SeededLate):
            what = "splits the data" if event.splits else "draws its parameters"
            message = f"`{event.drawn}` {what} before this seed: another time with others"
            yield Diagnostic(event.node, message, event.trace, claims=(Observed("drawn-before-seed"),))
            return
        name = f"`{event.module}`" if event.module else f"`{event.generator}`"
        message = f"only torch's generator is seeded, and the program draws from that of {name}, too"
        claims = (Observed("unseeded", event.generator),)
        # The other draws may decide nothing that is to be repeated: nobody but the author knows.
        yield Diagnostic(event.node, message, event.trace, _fix(event), claims=claims)


def _fix(event: data.GeneratorNotSeeded) -> Fix | None:
    if not event.module or len(event.call.args) != 1 or event.call.args[0].star:
        return None
    seeding = f"{event.module}.seed({code(event.call.args[0].value)})"
    text = followed_by(event.statement, seeding)
    return Fix(f"call `{seeding}` too", (Edit(event.statement, text),), safe=False) if text else None
