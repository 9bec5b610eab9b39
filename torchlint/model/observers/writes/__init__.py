"""Observers of in-place writes, views and aliases."""
