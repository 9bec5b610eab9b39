"""Shapes, strides and dtypes of results, from those of the arguments. Knows nothing of programs."""
