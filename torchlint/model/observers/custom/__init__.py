"""Observers of custom autograd functions and hooks."""
