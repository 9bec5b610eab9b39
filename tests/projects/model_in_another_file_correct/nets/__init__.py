from .classifier import Classifier, Gate, build

__all__ = ["Classifier", "Gate", "build"]
