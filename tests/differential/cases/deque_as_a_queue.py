# expected: freed on line 14

from collections import deque

import torch

w = torch.ones(3, requires_grad=True)
queue = deque([w.exp(), w.tanh()])
queue.appendleft(w.sin())
queue.popleft()
first = queue.popleft()
first.sum().backward()
queue.pop().sum().backward()
first.sum().backward()
