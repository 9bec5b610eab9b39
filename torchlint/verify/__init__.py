"""
Running programs under torch, to confirm or refute what the linter says.

The only package that deals with torch. The process that lints never imports it: programs run in a child process
(`child`, a server that has imported torch once and forks per program), which observes and reports; the
verdict is then reached from the observations alone (`judge`), never from the static claim.

- `verify`: verdicts for the findings of a file; `watches`: what is watched for their claims.
- `judge`: from what was seen to a verdict; `probes`: what can be observed, by name.
- `execute`: does a rule's example show its symptom?
- `programs`: which program shows a finding.
- `server`, `child`, `sandbox`, `protocol`: processes, limits, and what passes between them.
- `loading`, `standins`, `usage`, `values`, `inputs`: what a driven Module or function needs.
- `repairs`, `refusals`, `by_name`, `following`, `origins`: what a refusal asks for, and of which arguments.
- `mutations`, `smaller`, `menu`, `waiting`: what is tried where none says more, in which order, and for how long.
- `own`, `session`: a program of the user's as the driver; `start`, `hook`, `scenes`, `suite`: what watches it inside.
- `instrument`, `observe`, `recorder`, `leaf_writes`, `driver`: what happens inside the child.
"""

from __future__ import annotations


class TorchMissing(Exception):  # noqa: N818 (a state of the machine, not a fault)
    """Torch cannot be imported by this Python, so nothing can be run: the message says how to get it."""


class ServerError(Exception):
    """The process that runs programs could not be started, or broke: the message says what is known."""
