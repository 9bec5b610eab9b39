# correct: 048_zeroed_for_every_microbatch.py
# cure: The gradients are cleared after a step.

import torch
import torch.nn.functional as F


def train(model, optimizer, loader, accumulation, autoencoder):
    last = None
    for index, images in enumerate(loader):
        with torch.no_grad():
            latents = autoencoder(images)
        noise = torch.randn_like(latents)
        loss = F.mse_loss(model(latents + noise), latents) / accumulation
        loss.backward()
        last = torch.autograd.grad(F.mse_loss(model(latents + noise), latents) / accumulation, model.weight)[0]
        if (index + 1) % accumulation == 0:
            print("gradient of one micro-batch alone:", torch.allclose(model.weight.grad, last))
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)


model = torch.nn.Linear(4, 4)
adam = torch.optim.AdamW(model.parameters(), lr=2e-4)
train(model, adam, torch.randn(4, 8, 6), accumulation=4, autoencoder=torch.nn.Linear(6, 4))
