from .blocks import Base, Doubled  # noqa: F401
from .gates import *  # noqa: F403
