# thread: https://github.com/facebookresearch/nwm/issues/16
# diagnosis: One of two branches clears the gradients, and the other one, taken with mixed precision, does not.
# mistake: 21
# expected: TLN402
# symptom: prints second step doubles: True

import torch


def train_step(model, opt, x, y, bfloat_enable, clip):
    with torch.autocast("cpu", enabled=bfloat_enable, dtype=torch.bfloat16):
        loss = torch.nn.functional.mse_loss(model(x), y)
    if not bfloat_enable:
        opt.zero_grad()
        loss.backward()
        opt.step()
    else:
        loss.backward()
        if clip > 0:
            torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        opt.step()
    return loss.item()


def main(epochs, bfloat_enable):
    model = torch.nn.Linear(4, 4)
    opt = torch.optim.AdamW(model.parameters(), lr=0.0, weight_decay=0)
    x, y = torch.randn(8, 4), torch.randn(8, 4)
    norms = []
    for epoch in range(epochs):
        train_step(model, opt, x, y, bfloat_enable, clip=0.0)
        norms.append(model.weight.grad.norm().item())
    print("second step doubles:", norms[1] > 1.9 * norms[0])


main(epochs=2, bfloat_enable=True)
