# thread: https://github.com/ariecattan/SciCo/issues/2
# diagnosis: The validation step gives probabilities to the criterion that expects logits.
# mistake: 27
# expected: TLN601
# symptom: prints best possible validation loss: 0.74

import torch
from torch import nn


class PairClassifier(nn.Module):
    def __init__(self, width, labels):
        super().__init__()
        self.linear = nn.Linear(width, labels)
        self.criterion = nn.CrossEntropyLoss()

    def forward(self, pairs):
        return self.linear(pairs)

    def training_step(self, batch):
        pairs, y = batch
        return self.criterion(self(pairs), y)

    def validation_step(self, batch):
        pairs, y = batch
        y_hat = torch.softmax(self(pairs), dim=1)
        return {"val_loss": self.criterion(y_hat, y), "preds": y_hat.argmax(1)}


model = PairClassifier(4, 4)
with torch.no_grad():
    model.linear.weight.copy_(50 * torch.eye(4))
    model.linear.bias.zero_()
    result = model.validation_step((torch.eye(4), torch.arange(4)))
print(f"best possible validation loss: {result['val_loss']:.2f}")
