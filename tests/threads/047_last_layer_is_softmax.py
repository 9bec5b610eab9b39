# thread: https://github.com/doronharitan/human_activity_recognition_LRCN/issues/4
# diagnosis: A Softmax is the last layer of a network that is trained with CrossEntropyLoss.
# mistake: 29
# expected: TLN601
# symptom: prints softmax twice: True

import torch
import torch.nn as nn


class ClipModel(nn.Module):
    def __init__(self, hidden_size, n_actions):
        super().__init__()
        self.frames = nn.Linear(24, hidden_size)
        self.lstm = nn.LSTM(hidden_size, hidden_size, batch_first=True)
        self.output_layer = nn.Sequential(
            nn.Linear(hidden_size, hidden_size), nn.ReLU(), nn.Linear(hidden_size, n_actions), nn.Softmax(dim=-1)
        )

    def forward(self, x):
        x, _ = self.lstm(self.frames(x))
        return self.output_layer(x[:, -1])


def train_epoch(model, loader, criterion, optimizer):
    for clips, actions in loader:
        optimizer.zero_grad()
        output = model(clips)
        loss = criterion(output, actions)
        loss.backward()
        optimizer.step()
    return output


model = ClipModel(16, 5)
loader = [(torch.randn(2, 7, 24), torch.randint(0, 5, (2,))) for _ in range(2)]
output = train_epoch(model, loader, nn.CrossEntropyLoss(), torch.optim.Adam(model.parameters(), lr=1e-4))
print("softmax twice:", torch.allclose(output.sum(1), torch.ones(2)))
