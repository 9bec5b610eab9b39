"""Raises: Can't pickle local object"""

import torch
from data.points import Points
from torch.utils.data import DataLoader

model = torch.nn.Linear(1, 1)
loader = DataLoader(Points(4), num_workers=2, multiprocessing_context="spawn")  # warning: [TLN805]
for x in loader:  # warning: [TLN806]
    model(x.float()).sum().backward()
