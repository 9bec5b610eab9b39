"""Loading data and repeating a run: loaders and their workers, random generators, distributed samplers."""
