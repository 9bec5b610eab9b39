"""Faulty programs that were silent when they were written: which are found, and what the others need."""
