"""
What `--with` says: a program of the user's as the driver, for the verdicts on findings and for the fixes of them.

Runs nothing itself and judges nothing (`torchlint.verify`); knows no other option of the commands.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchlint.config import ConfigError
from torchlint.hosts.command_line.output import complain
from torchlint.results import RunResult

if TYPE_CHECKING:
    from torchlint.verify.fixing import Admit
    from torchlint.verify.session import Command

STEPS, SECONDS, MEMORY_MB = 50, 600.0, 16384
"""Limits of the program, unless told otherwise."""


@dataclass(slots=True)
class Driver:
    """What `--with` and the options beside it say."""

    command: str
    python: str | None = None
    steps: int = STEPS
    seconds: float = SECONDS
    memory: int = MEMORY_MB
    told: bool = False

    def verdicts(self, result: RunResult, *, quiet: bool) -> RunResult:
        """
        The run with a verdict on each finding.

        Raises
        ------
        ConfigError
            for a command that cannot be run under observation.
        TorchMissing, ServerError
            as `own.run_program`.
        """
        from torchlint.verify.own import Limits, with_program

        variables, python, command = self._begun(quiet)
        limits = Limits(self.steps, self.seconds, self.memory)
        return with_program(result, self.command, python, command, variables, limits, quiet=quiet)

    def admit(self, *, quiet: bool) -> Admit:
        """
        What holds a fix against the program.

        Raises
        ------
        ConfigError
            as `verdicts`.
        """
        from torchlint.verify.fixing_own import Programs
        from torchlint.verify.own import Limits

        variables, python, command = self._begun(quiet)
        limits = Limits(self.steps, self.seconds, self.memory)
        return Programs(self.command, python, command, variables, limits, quiet=quiet).objection

    def _begun(self, quiet: bool) -> tuple[dict[str, str], str, Command]:
        from torchlint.verify.own import python_of
        from torchlint.verify.session import parsed

        try:
            variables, named, command = parsed(self.command)
        except ValueError as error:
            raise ConfigError(f"--with: {error}") from None
        python = python_of(named, self.python)
        if not quiet and not self.told:
            self.told = True
            complain(f"runs `{self.command}` with {python}, as you would: what it does is not confined")
        return variables, python, command
