from collections.abc import Iterator

from torchlint.fixes.rewrites import as_definition
from torchlint.model.events import data
from torchlint.rule import Diagnostic, Edit, Example, Fix, Level, Raises, Rule
from torchlint.syntax import cst

_NAMES = {"collate_fn": "collate", "worker_init_fn": "init_worker"}


class UnpicklableLoaderArgument(Rule):
    """
    A loader with workers is given a lambda, or a function that another function defines.

    ## What it does
    Finds lambdas and local functions as `collate_fn` or `worker_init_fn`, held by the dataset, or given to transforms
    and datasets of torchvision (`transforms.Lambda(lambda x: …)`), where `num_workers` is known to be more than 0.

    ## Why is this bad?
    Where processes are spawned (macOS, Windows) or come from a fork server (Linux from Python 3.14), the loader has to
    pickle what it hands to its workers. Such a function cannot be pickled: iterating over the loader raises.

    ## Cure
    Define the function at the top of the file; `functools.partial` of such a one gives it arguments.

    ## Fix safety
    Offered where the call itself holds the lambda, which reads no variable of a function around it; one at a time.
    Unsafe: another file may bind the function's new name here.

    ## Known limits
    Of the platforms those count that the project's metadata allow: not Linux where its Pythons end before 3.14, and
    that alone where its classifiers name no other. Silent where the number of workers is not known, where the file
    decides how processes are started (`set_start_method`, `multiprocessing_context="fork"`) or asks for the platform,
    and where the dataset pickles itself.

    ## References
    - [Platform-specific behaviors](https://docs.pytorch.org/docs/stable/data.html#platform-specific-behaviors)
    """

    code = "TLN805"
    name = "unpicklable-loader-argument"
    level = Level.WARNING
    fixes = "unsafe"
    bad = (
        Example(
            """
            from torch.utils.data import DataLoader

            collate = lambda batch: batch
            options = {"num_workers": 2, "multiprocessing_context": "spawn"}
            loader = DataLoader(range(8), collate_fn=collate, **options)  # warning: [TLN805]
            if __name__ == "__main__":
                batches = list(loader)
            """,
            shows=Raises("Can't pickle <function <lambda>"),
        ),
        Example(
            """
            import pickle
            from torch.utils.data import DataLoader

            loader = DataLoader(range(8), collate_fn=lambda batch: batch, num_workers=2)  # warning: [TLN805]
            pickle.dumps(loader.collate_fn)  # as where a worker is spawned
            """,
            shows=Raises("Can't pickle <function <lambda>"),
            fixed="""
            import pickle
            from torch.utils.data import DataLoader

            def collate(batch):
                return batch

            loader = DataLoader(range(8), collate_fn=collate, num_workers=2)
            pickle.dumps(loader.collate_fn)  # as where a worker is spawned
            """,
        ),
    )
    good = (
        Example(
            """
            from torch.utils.data import DataLoader

            def as_it_is(batch):
                return batch

            loader = DataLoader(range(8), num_workers=2, collate_fn=as_it_is)
            if __name__ == "__main__":
                batches = list(loader)
            """
        ),
    )

    def check(self, event: data.LocalFunctionLoaded) -> Iterator[Diagnostic]:
        given = f"`{event.dataset}` holds {event.function} as" if event.dataset else f"{event.function} is given as"
        if not (event.context or event.spawned):
            return
        where = "" if event.context else f" where they are spawned ({', '.join(event.spawned)})"
        message = f"{given} `{event.holder}`, which cannot be sent to workers{where}"
        claims = (Raises("Can't pickle", here=False), Raises("Can't get local object", here=False))
        yield Diagnostic(event.node, message, event.trace, self.defined(event), claims=claims)

    def defined(self, event: data.LocalFunctionLoaded) -> Fix | None:
        """The lambda as a function of the file."""
        literal, whole = event.literal, event.whole
        if not isinstance(literal, cst.Lambda) or whole is None:
            return None
        name = _NAMES[event.holder]
        text = as_definition(literal, name)
        if text is None or name in event.taken:
            return None
        return Fix(f"define it as `{name}`", (Edit(whole, text, before=True), Edit(literal, name)), safe=False)
