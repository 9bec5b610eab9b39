"""
What torch holds of a run beside its graphs: default dtype, default mode of Modules.

Data that the transfer functions of this folder read and change; each takes it as its first argument.
"""

from __future__ import annotations

from torchlint.model.autograd.autograd import Autograd
from torchlint.model.state.guards import Truth
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import Instance, Module


class Torch:
    """The state of torch in one abstract run."""

    __slots__ = (
        "autograd",
        "by_default",
        "default_device",
        "default_dtype",
        "default_training",
        "device_set",
        "machine",
        "modes_set",
        "switched",
        "switching",
        "unsettled",
        "very_dtypes",
    )

    def __init__(self, machine: Machine, autograd: Autograd) -> None:
        self.machine = machine
        self.autograd = autograd
        self.default_dtype = "torch.float32"
        """The dtype of new float tensors, "" if it is not known."""
        self.default_device = "cpu"
        """The type of the device of new tensors, "" if it is not known."""
        self.device_set = 0
        """When a call has last set it."""
        self.unsettled: frozenset[str] = frozenset()
        """Those that a function has set, or that were set when some had run: nobody knows with which the others run."""
        self.very_dtypes = True
        """Whether an operation computes in the dtype of its operands: not under `torch.autocast`."""
        self.by_default = False
        """Whether a `forward` is run as its author had it in mind (`scheduling/entry_points`)."""
        self.default_training = Truth.YES
        """The mode of a module that nobody has switched: training while the script runs; unknown in what it defines."""
        self.modes_set = 0
        """How often the grad mode was set by a call that no context has taken back."""
        self.switched: list[Module | Instance] = []
        """The modules whose mode was set."""
        self.switching = False
        """Whether torch itself calls the `train` of a class of the file: the program has written another call."""
