"""Observers of backward passes, gradients and their graphs."""
