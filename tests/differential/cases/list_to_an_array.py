# expected: numpy on line 9
import numpy as np
import torch

w = torch.ones(3, requires_grad=True)
rows = torch.ones(3)
for _ in range(2):
    # torch is asked for the array of each tensor in it
    np.asarray(rows)
    rows = (w, w)
