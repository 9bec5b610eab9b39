"""Recall by injection: in-place statements put into real Modules; torch decides what breaks, the linter must see it."""
