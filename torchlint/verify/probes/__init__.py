"""
The probes of the runtime cross-check, by the names that claims use (`torchlint.claims.Observed`).

One module per kind of observation. A probe sees a finding's case and what the child reports; it runs nothing, and knows
no rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from torchlint.verify.probe import Probe
from torchlint.verify.probes import calls, changes, gradients, graphs, loading, modules, releases, seeds, writes

PROBES: Mapping[str, Probe] = {
    **writes.PROBES,
    **gradients.PROBES,
    **graphs.PROBES,
    **modules.PROBES,
    **calls.PROBES,
    **changes.PROBES,
    **releases.PROBES,
    **loading.PROBES,
    **seeds.PROBES,
    "gradient-zeroed": replace(gradients.PROBES["gradient-zeroed"], add=changes.without_zeroing),
}
