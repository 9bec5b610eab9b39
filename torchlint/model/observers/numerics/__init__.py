"""Observers of numerics: logits, logarithms, comparisons, broadcasts."""
