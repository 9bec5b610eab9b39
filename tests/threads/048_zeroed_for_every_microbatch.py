# thread: https://github.com/bytetriper/RAE/issues/67
# diagnosis: The gradients are cleared in every micro-batch, so only the last one of each group counts.
# mistake: 14
# expected: TLN405
# symptom: prints gradient of one micro-batch alone: True

import torch
import torch.nn.functional as F


def train(model, optimizer, loader, accumulation, autoencoder):
    last = None
    for index, images in enumerate(loader):
        optimizer.zero_grad(set_to_none=True)
        with torch.no_grad():
            latents = autoencoder(images)
        noise = torch.randn_like(latents)
        loss = F.mse_loss(model(latents + noise), latents) / accumulation
        loss.backward()
        last = torch.autograd.grad(F.mse_loss(model(latents + noise), latents) / accumulation, model.weight)[0]
        if (index + 1) % accumulation == 0:
            print("gradient of one micro-batch alone:", torch.allclose(model.weight.grad, last))
            optimizer.step()


model = torch.nn.Linear(4, 4)
adam = torch.optim.AdamW(model.parameters(), lr=2e-4)
train(model, adam, torch.randn(4, 8, 6), accumulation=4, autoencoder=torch.nn.Linear(6, 4))
