"""Observers of the training loop: order, modes, zeroing."""
