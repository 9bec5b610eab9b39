"""
The operation table: what each operation saves, shares, writes and differentiates. Generated from torch; knows nothing
of programs.
"""
