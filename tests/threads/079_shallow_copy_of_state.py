# thread: https://github.com/WMD-group/SMACT/pull/601
# diagnosis: The state dict is copied as a dictionary, and its tensors are still those of the model.
# mistake: 26
# expected: TLN206
# symptom: prints tensors shared: True

import torch
from torch import nn


def train_with_patience(model, train_x, train_y, val_x, val_y, patience, max_epochs, lr=0.05):
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
    criterion = nn.L1Loss()
    best_val, best_state, waited = float("inf"), None, 0
    for epoch in range(max_epochs):
        model.train()
        optimizer.zero_grad()
        loss = criterion(model(train_x), train_y)
        loss.backward()
        optimizer.step()
        model.eval()
        with torch.no_grad():
            val_loss = criterion(model(val_x), val_y).item()
        if val_loss < best_val:
            best_val, waited = val_loss, 0
            best_state = model.state_dict().copy()
        else:
            waited += 1
            if waited >= patience:
                break
    print("tensors shared:", best_state["weight"].data_ptr() == model.weight.data_ptr())
    model.load_state_dict(best_state)
    return best_val


train_with_patience(nn.Linear(5, 1), *(torch.randn(8, n) for n in (5, 1, 5, 1)), patience=2, max_epochs=6)
