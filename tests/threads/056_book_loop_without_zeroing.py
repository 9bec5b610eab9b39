# thread: https://github.com/affaan-m/ECC/pull/3122
# diagnosis: Forward, backward and step are written out for each batch, and the gradients of the batch before are still there.
# mistake: 21
# expected: TLN402
# symptom: prints batches add up: True

import torch


def calc_loss_batch(input_batch, target_batch, model):
    logits = model(input_batch)
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), target_batch.flatten())


def pretrain(model, train_loader, optimizer, num_epochs):
    tokens_seen = 0
    for epoch in range(num_epochs):
        for x, y in train_loader:
            loss = calc_loss_batch(x, y, model)
            loss.backward()
            optimizer.step()
            tokens_seen += x.numel()
    return tokens_seen


gpt = torch.nn.Sequential(torch.nn.Embedding(20, 8), torch.nn.Linear(8, 20))
ids = torch.randint(0, 20, (2, 7))
opt = torch.optim.AdamW(gpt.parameters(), lr=0.0)
pretrain(gpt, [(ids[:, :-1], ids[:, 1:])], opt, 1)
once = gpt[1].weight.grad.clone()
pretrain(gpt, [(ids[:, :-1], ids[:, 1:])], opt, 1)
print("batches add up:", torch.allclose(gpt[1].weight.grad, 2 * once))
