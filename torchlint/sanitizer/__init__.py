"""
The autograd sanitizer: the user's own program is run, watched, and what autograd refused or lost is told.

It knows no rule and lints nothing: what it tells comes from torch alone, from the calls, the versions of tensors, and
the graph. It may change nothing that the program computes, prints to its own standard output, or ends with.

- `launch`: starts it in the user's interpreter; imports no torch.
- `start`: what runs there. `places`: where in the program something happened. `page`: what is told, as text and JSON.
- `calls`: what is kept of every call into torch. `passes`: what is kept of every backward. `growth`: graphs that are
  never let go of. `optimizers`: parameters without a gradient.
- `story`: from an error to the operations behind it. `verify.quiet`: warnings and tracebacks that look as
  without us.
- `gradients`, `picture`: `torchlint trace`.
"""
