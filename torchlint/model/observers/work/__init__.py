"""Observers of work that autograd need not do."""
