from collections.abc import Iterator

from torchlint.fixes.rewrites import under_main_guard
from torchlint.model.events import data
from torchlint.rule import Diagnostic, Edit, Example, Fix, Holds, Level, Observed, Rule


class LoaderWithoutMainGuard(Rule):
    """
    Workers are started while the file runs, without `if __name__ == "__main__":`.

    ## What it does
    Finds loaders with workers that a statement of the file itself goes through, or a function that such a statement
    calls, outside of `if __name__ == "__main__":`.

    ## Why is this bad?
    Where processes are spawned (macOS, Windows) or come from a fork server (Linux from Python 3.14), each worker runs
    the file again, to know what it defines. It comes to the same loop and would start workers itself: Python raises
    ("An attempt has been made to start a new process before the current process has finished its bootstrapping phase"),
    and the main process finds its workers dead.

    ## Cure
    Put what the file does into a function, and call that under `if __name__ == "__main__":`.

    ## Fix safety
    Unsafe: whoever imports the file gets nothing of what the statement did. Only where it is the last one.

    ## Known limits
    One finding for a file. Platforms as in TLN805. Silent in notebooks, where the number of workers is not written as a
    number, where the file speaks of how processes are started (`set_start_method`, `multiprocessing`) or of the
    platform, and where a method of an object goes through the loader.

    ## References
    - [Platform-specific behaviors](https://docs.pytorch.org/docs/stable/data.html#platform-specific-behaviors)
    - [Safe importing of main module](https://docs.python.org/3/library/multiprocessing.html#the-spawn-and-forkserver-start-methods)
    """

    code = "TLN806"
    name = "loader-without-main-guard"
    level = Level.WARNING
    fixes = "unsafe"
    bad = (
        Example(
            """
            import sys
            from torch.utils.data import DataLoader

            code = sys._getframe().f_code
            loader = DataLoader(range(8), num_workers=1)  # note: with workers
            for batch in loader:  # warning: [TLN806]
                print(batch)
            """,
            shows=Holds("(lambda names: exec(code, names) or 'batch' in names)({'__name__': '__mp_main__'})"),
            fixed="""
            import sys
            from torch.utils.data import DataLoader

            code = sys._getframe().f_code
            loader = DataLoader(range(8), num_workers=1)
            if __name__ == "__main__":
                for batch in loader:
                    print(batch)
            """,
        ),
    )
    good = (
        Example(
            """
            from torch.utils.data import DataLoader

            def main():
                for batch in DataLoader(range(8), num_workers=2):
                    print(batch)

            if __name__ == "__main__":
                main()
            """
        ),
    )

    def check(self, event: data.WorkersStarted) -> Iterator[Diagnostic]:
        if not event.spawned:
            return
        what = f"`{event.loader}`" if event.loader else "a loader"
        where = f" in `{event.function}`" if event.function else ""
        message = (
            f"{what} starts workers{where} while the file runs, without `__main__` guard: "
            f"where they are spawned ({', '.join(event.spawned)}), each runs it again"
        )
        text = under_main_guard(event.whole) if event.whole is not None else None
        edit = Edit(event.whole, text) if event.whole is not None and text is not None else None
        fix = Fix('put it under `if __name__ == "__main__":`', (edit,), safe=False) if edit is not None else None
        yield Diagnostic(event.node, message, event.trace, fix, claims=(Observed("starts-again"),))
