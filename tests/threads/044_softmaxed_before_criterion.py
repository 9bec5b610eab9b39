# thread: https://github.com/sugi-chan/custom_bert_pipeline/issues/1
# diagnosis: The training loop softmaxes the outputs and hands them to a CrossEntropyLoss built elsewhere.
# mistake: 20
# expected: TLN601
# symptom: prints outputs sum to one: True

import torch
import torch.nn.functional as F
from torch import nn


def train_model(model, dataloaders, criterion, optimizer, num_epochs=2):
    for epoch in range(num_epochs):
        for phase in ["train", "val"]:
            model.train(phase == "train")
            for inputs, labels in dataloaders[phase]:
                optimizer.zero_grad()
                with torch.set_grad_enabled(phase == "train"):
                    outputs = F.softmax(model(inputs), dim=1)
                    loss = criterion(outputs, torch.max(labels.float(), 1)[1])
                    if phase == "train":
                        loss.backward()
                        optimizer.step()
    return outputs


net = nn.Sequential(nn.Linear(12, 8), nn.Dropout(0.1), nn.Linear(8, 3))
loaders = {p: [(torch.randn(4, 12), F.one_hot(torch.randint(0, 3, (4,)), 3))] for p in ("train", "val")}
outputs = train_model(net, loaders, nn.CrossEntropyLoss(), torch.optim.Adam(net.parameters()))
print("outputs sum to one:", torch.allclose(outputs.sum(1), torch.ones(4)))
