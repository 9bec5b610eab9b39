# `meshgrid` of numbers gives views of one element each: `reshape` gives a view of that.
# expected: leaf-view on line 8

import torch

w = torch.ones((), requires_grad=True)
a, _ = torch.meshgrid(w, w, indexing="ij")
a.reshape(a.shape).relu_()
