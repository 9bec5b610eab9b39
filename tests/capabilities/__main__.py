"""
`python -m tests.capabilities`: the programs of `programs.md`, and what torchlint says of them.

A mistake is found if a finding, at any level, has one of the expected codes; each program holds one mistake. A correct
program must have neither an error nor a warning. The figures count apart what was missed when the programs were
written, what was found, and what is correct. Everybody has seen these programs: the figures say what was cured, not
what is found of code that nobody has seen.
"""

from __future__ import annotations

import click

from .collection import FOLDER, programs
from .measure import measure, table

KEPT = FOLDER / "kept.txt"


@click.command(help=__doc__)
@click.option("--show", is_flag=True, help="Name what is missed, and what is said of correct programs.")
@click.option("--keep", is_flag=True, help=f"Write what is found to {KEPT.name}; it must stay found.")
@click.option("--only", default="", metavar="PART", help="Programs whose name or capability holds this.")
def main(show: bool, keep: bool, only: str) -> None:
    """Run the command; see the module's docstring."""
    chosen = [each for each in programs() if only in each.name or only in each.capability]
    verdicts = measure(chosen)
    click.echo(table(verdicts) if not only else f"{sum(each.right for each in verdicts)} of {len(verdicts)}")
    if show:
        for each in verdicts:
            if each.right or not (each.program.codes or each.program.correct):
                continue
            expected = ", ".join(each.program.codes) or "silence"
            click.echo(f"{each.program.capability}: {each.program.name}: {expected}")
            for finding in each.said:
                click.echo(f"    {finding}")
    if keep and not only:
        found = [each.program.name for each in verdicts if each.right and not each.program.correct]
        KEPT.write_text("".join(f"{name}\n" for name in found), encoding="utf-8")


if __name__ == "__main__":
    main()
