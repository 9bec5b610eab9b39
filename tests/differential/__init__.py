"""
Differential tests: random programs, run by torch and followed by the model, which must agree on the first error of
autograd.

`python -m tests.differential --programs 2000 --seed 0 --jobs 2` runs any number of them; see `__main__`.
"""
