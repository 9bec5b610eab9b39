"""
What each process would make for itself, made once by the one that they are forks of: the programs of the tests, the
rules, and the part of torch that the first optimizer loads. Five seconds, of thirty for a thousand programs.
"""

import importlib

import expectations

from .hide import shown
from .programs import written

importlib.import_module("torch._dynamo")
written()
expectations.own()
shown("import torch\n\ntorch.ones(3, requires_grad=True).add_(1)\n")
