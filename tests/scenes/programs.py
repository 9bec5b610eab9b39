"""One program for each seed."""

from __future__ import annotations

from .draft import Draft
from .practice import checkpointing, closures, derivatives, hooks
from .scenes import SCENES
from .states import arrays, containers, functional, leaves, modes

ALL = [*SCENES, derivatives, checkpointing, hooks, closures, containers, modes, arrays, leaves, functional]


def program(seed: int) -> str:
    """The program of a seed: one scene, sometimes two, as a script or in a function."""
    draft = Draft(seed)
    wrapped = draft.chance(0.2)
    if wrapped:
        draft.say("def main():")
        draft.depth = 1
    draft.draw.choice(ALL)(draft)
    if draft.chance(0.2):
        draft.draw.choice(ALL)(draft)
    if wrapped:
        draft.depth = 0
        draft.lines.append("\n")
        draft.say(draft.pick("main()", 'if __name__ == "__main__":\n    main()'))
    return draft.text()
