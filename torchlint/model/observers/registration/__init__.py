"""Observers of parameters, modules, leaves and what optimizers are given."""
