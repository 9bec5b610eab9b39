# ruff: noqa: F403
from .one import *
from .two import *
