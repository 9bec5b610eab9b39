# thread: https://github.com/tenstorrent/tt-blacksmith/pull/711
# diagnosis: The trainer steps and never clears the gradients.
# mistake: 20
# expected: TLN402
# symptom: prints gradients accumulate: True

import torch


class Trainer:
    def __init__(self, model, config):
        self.model = model
        self.config = config
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=config["lr"])

    def train_step(self, batch):
        logits = self.model(batch["input"])
        loss = torch.nn.functional.cross_entropy(logits, batch["label"])
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def train(self, batches):
        for epoch in range(self.config["epochs"]):
            for batch in batches:
                self.train_step(batch)


model = torch.nn.Linear(6, 3)
batch = {"input": torch.randn(5, 6), "label": torch.randint(0, 3, (5,))}
trainer = Trainer(model, {"lr": 0.0, "epochs": 1})
trainer.train([batch])
first = model.weight.grad.clone()
trainer.train([batch])
print("gradients accumulate:", torch.allclose(model.weight.grad, 2 * first))
