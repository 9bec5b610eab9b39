# thread: https://github.com/zjunlp/HVPNeT/issues/5
# diagnosis: The group for the classifier is filled, and never appended to the list that the optimizer gets.
# mistake: 34
# expected: TLN305
# symptom: prints classifier moved: False

import torch
import torch.nn as nn


class VisualTagger(nn.Module):
    def __init__(self, width, tags):
        super().__init__()
        self.bert, self.visual = nn.Linear(width, width), nn.Linear(width, width)
        self.fc = nn.Linear(width, tags)

    def forward(self, text, image):
        return self.fc(torch.tanh(self.bert(text) + self.visual(image)))


def groups(model, lr):
    parameters = []
    for prefix, rate in (("bert", lr), ("visual", lr)):
        params = {"lr": rate, "weight_decay": 1e-2, "params": []}
        for name, param in model.named_parameters():
            if name.startswith(prefix):
                params["params"].append(param)
        parameters.append(params)
    params = {"lr": 5e-2, "weight_decay": 1e-2, "params": list(model.fc.parameters())}
    return parameters


model = VisualTagger(6, 4)
optimizer = torch.optim.AdamW(groups(model, 3e-5))
before = model.fc.weight.detach().clone()
nn.functional.cross_entropy(model(torch.randn(5, 6), torch.randn(5, 6)), torch.randint(0, 4, (5,))).backward()
optimizer.step()
print("classifier moved:", not torch.equal(before, model.fc.weight))
