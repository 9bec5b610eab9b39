"""Findings held against the test suites of the packages in which they are made."""
