from .classifier import Classifier, build

__all__ = ["Classifier", "build"]
