# ruff: noqa: F403, F405
from stars import *


def square(x):
    return undone(x) ** 2
