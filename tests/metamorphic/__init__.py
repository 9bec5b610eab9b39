"""
Metamorphic tests: whoever knows less must not say more, and what is said holds whatever the unknown turns out to be.

`hide` takes a program, hides something of it behind `elsewhere`, a module that is not there, and compares the findings
of the two. `standins` gives what is hidden a body, one after the other, and lets torch judge the errors that were
reported while it was unknown. `python -m tests.metamorphic` runs any number of both; see `__main__`.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # `expectations`, `differential`: for the command as for pytest
