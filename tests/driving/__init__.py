"""How many Modules and functions of real packages the runtime cross-check can drive; see `__main__`."""
