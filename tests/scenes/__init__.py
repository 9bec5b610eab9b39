"""
A second generator of random programs: scenes as people write them, under torch and under the linter.

Written without a look at the first (`tests/differential`), so that what both overlook is what nobody thought of.
"""
