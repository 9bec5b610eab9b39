"""
A static model of autograd: runs a program abstractly and says what happens in it.

`interpret(text)` is the whole interface upwards: it returns events. The model does not judge (rules do),
does not print, and never imports torch.
"""

from torchlint.model.scheduling.entry_points import interpret

__all__ = ["interpret"]
