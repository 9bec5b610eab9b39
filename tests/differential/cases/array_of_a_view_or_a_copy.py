# expected: numpy on line 9
import numpy as np
import torch

x = torch.zeros(3)
mesh, _ = torch.meshgrid(x, x)
mesh.requires_grad_()
flat = mesh.t().reshape(-1)
np.asarray(flat)
