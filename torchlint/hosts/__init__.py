"""Where torchlint is called from: the command line, flake8. Reads arguments and prints; holds no logic."""
