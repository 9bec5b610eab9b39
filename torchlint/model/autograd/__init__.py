"""
Autograd, abstractly: recording, in-place writes, what a backward reads, frees and accumulates. Knows nothing of
Python.
"""
