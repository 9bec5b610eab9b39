# thread: https://github.com/huggingface/transformers/issues/1563
# diagnosis: With accumulation the gradients are clipped after each backward, not once before the step.
# mistake: 21
# expected: none
# symptom: prints clipped per step: 4

import argparse

import torch


def train(args, train_batches, model, optimizer, scheduler):
    clipped = 0
    model.zero_grad()
    for step, (x, y) in enumerate(train_batches):
        model.train()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        if args.gradient_accumulation_steps > 1:
            loss = loss / args.gradient_accumulation_steps
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), args.max_grad_norm)
        clipped += 1
        if (step + 1) % args.gradient_accumulation_steps == 0:
            optimizer.step()
            scheduler.step()
            model.zero_grad()
            print("clipped per step:", clipped)
            clipped = 0


args = argparse.Namespace(gradient_accumulation_steps=4, max_grad_norm=1.0)
model = torch.nn.Linear(8, 2)
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-5)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: max(0.0, 1 - s / 10))
train(args, [(torch.randn(2, 8), torch.randint(0, 2, (2,))) for _ in range(4)], model, optimizer, scheduler)
