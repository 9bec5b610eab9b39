import torch
from model import Model

torch.manual_seed(0)
model = Model()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    loss = model(torch.randn(8, 4)).pow(2).mean()
    print(f"loss {loss.item():.4f}")
    loss.backward()
    optimizer.step()
