"""Torch's operations and functions on abstract arguments: methods, creation, layers, optimizers, indexing."""
