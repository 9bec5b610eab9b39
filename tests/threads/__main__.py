"""
`python -m tests.threads`: public threads about PyTorch mistakes, and how many of them torchlint reports.

Each program of this folder reduces one thread (`collection.py` tells the form). All are linted with all rules on, and
held against their headers: a mistake is found if a finding with one of the expected codes touches one of its lines, at
any level. One with an expected code on another line is counted as `elsewhere`, findings with other codes at error and
warning level as `beside` (they may well be true); in a mended program errors and warnings are wrong. Half of the
programs, drawn by a seed from their names, is held out: their misses are counted and not named, and nobody tunes on
them.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import click

from . import measure
from .collection import FOLDER, SEED, programs, twins

KEPT = FOLDER / "kept.json"


@click.command(help=__doc__)
@click.option("--record", type=click.Path(path_type=Path), metavar="FILE", help="Write each file's outcome, once.")
@click.option("--keep", is_flag=True, help=f"Write what is found of the open half to {KEPT.name}; it must stay found.")
@click.option("--show", is_flag=True, help="Name the open half's misses and what is said beside the mistakes.")
def main(record: Path | None, keep: bool, show: bool) -> None:
    """Run the command; see the module's docstring."""
    faulty, mended = programs(), twins()
    said = measure.lint(each.path for each in (*faulty, *mended))
    verdicts = measure.judge(faulty, said)
    wrong = measure.alarms(mended, said)
    click.echo(measure.table(verdicts))
    click.echo(f"{len(mended)} mended programs, {sum(map(len, wrong.values()))} errors and warnings on them: wrong")
    for name, findings in wrong.items():
        for each in findings:
            click.echo(f"  {name}:{each}")
    opened = [each for each in verdicts if not each.program.held_out]
    if show:
        for each in opened:
            if each.outcome == "missed":
                click.echo(
                    f"missed {each.program.path.name}: {', '.join(each.program.codes)}: {each.program.diagnosis}"
                )
            for finding in each.beside:
                click.echo(f"beside {each.program.path.name}:{finding}")
    if keep:
        found = [each.program.path.name for each in opened if each.right]
        KEPT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if record is not None:
        outcomes: dict[str, object] = {each.program.path.name: each.outcome for each in verdicts}
        outcomes |= {each.path.name: "wrong" if each.path.name in wrong else "silent" for each in mended}
        kept = {"commit": _commit(), "seed": SEED, "outcomes": dict(sorted(outcomes.items()))}
        record.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def _commit() -> str:
    """The last commit that touched the linter, short."""
    command = ["git", "log", "-1", "--format=%h", "--", "torchlint", "rules"]
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=FOLDER.parents[1]).stdout.strip()


if __name__ == "__main__":
    main()
