"""
The pytest plugin: `pytest --torchlint PATH` judges torchlint's findings in PATH by the suite that runs.

Loaded in every pytest run of an environment with torchlint, so it imports neither torch nor the linter before the
option is given. `-p no:torchlint` leaves it out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from torchlint.results import RunResult
    from torchlint.verify.scenes import Scenes

NAME = "torchlint"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options."""
    group = parser.getgroup(NAME, "findings of torchlint, judged by this suite")
    group.addoption(
        "--torchlint",
        action="append",
        metavar="PATH",
        default=[],
        help="Lint this, and judge what is found; repeatable.",
    )
    group.addoption(
        "--torchlint-steps",
        type=int,
        default=50,
        metavar="N",
        help="A test is watched no further than so many steps of optimizers (default: 50).",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Lint, and watch what is imported from now on; with workers of pytest-xdist nothing is."""
    options = early_config.known_args_namespace
    if not options.torchlint or hasattr(early_config, "workerinput"):
        return
    if getattr(options, "numprocesses", None):
        raise pytest.UsageError("--torchlint watches one process: run it with -n 0")
    early_config.pluginmanager.register(_Judge(options.torchlint, options.torchlint_steps), f"{NAME}-judge")


class _Judge:
    def __init__(self, paths: list[str], steps: int) -> None:
        from torchlint.verify.own import Questions
        from torchlint.verify.scenes import Scenes
        from torchlint.verify.suite import Suite

        self.questions = Questions(_linted(paths), "pytest")
        self.scenes: Scenes = Scenes(self.questions.session(steps), self.questions.take)
        self.suite = Suite(self.scenes)
        self.suite.pytest_load_initial_conftests()
        self.answered: RunResult | None = None

    def pytest_configure(self, config: pytest.Config) -> None:
        config.pluginmanager.register(self.suite, f"{NAME}-suite")

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self.scenes.close("ended")
        self.answered = self.questions.answered()
        if _confirmed(self.answered) and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self.answered is None:
            return
        from torchlint import report

        terminalreporter.section(NAME)
        text = "".join(report.render("text", self.answered, report.Style()))
        terminalreporter.write_line(text.rstrip("\n"))


def _linted(paths: list[str]) -> RunResult:
    from torchlint.config import ConfigError, Overrides, for_directory
    from torchlint.project.files import find_files
    from torchlint.run.run import check_files

    try:
        found = find_files(paths, exclude_named=False, overrides=Overrides(), configured=for_directory)
        wrong = [f"{path}: no such file or directory" for path in found.missing]
        wrong += [f"{path}: {why}" for path, why in (*found.refused, *found.unreadable)]
        if wrong:
            raise pytest.UsageError(f"--torchlint: {'; '.join(wrong)}")
        return check_files(found.files, Overrides(), workers=1, configured=for_directory)
    except ConfigError as error:
        raise pytest.UsageError(f"--torchlint: {error}") from error


def _confirmed(run: RunResult) -> bool:
    """Whether a finding that fails a run is confirmed."""
    from torchlint.finding import Level

    failing = (Level.ERROR, Level.WARNING)
    return any(f.verdict is not None and f.verdict.status == "confirmed" and f.level in failing for f in run.findings)
