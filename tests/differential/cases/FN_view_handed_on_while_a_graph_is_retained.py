# expected: no-grad-view on line 13
# said: ok: looking whether foreign code gets hold of the retained graph takes the view for one that has been asked
import numpy as np
import torch

x = torch.randn(3, requires_grad=True)
with torch.no_grad():
    view = x[1:]
view.exp().sum().backward(retain_graph=True)
with torch.no_grad():
    view.zero_()
    np.asarray(view)
view.neg()
