"""torchlint: a linter for PyTorch that keeps a static model of autograd, and lets torch itself judge."""

__version__ = "0.1.0"
