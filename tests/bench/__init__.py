"""How fast torchlint is, against its neighbours and against itself: see `python -m tests.bench --help`."""
