"""Raises: modified by an inplace operation"""

import torch
from voice.models.converter import Converter
from voice.models.trained import Trained

Converter()(torch.rand(2, 3, 4))
Trained()(torch.rand(2, 3, 4)).sum().backward()
