# thread: https://github.com/andrewgcodes/xlstm/issues/4
# diagnosis: The prediction of the whole batch is compared with one value of the sequence.
# mistake: 25
# expected: TLN606
# symptom: warns Using a target size

import torch
import torch.nn as nn

hidden_size, output_size, seq_len, batch = 8, 1, 6, 10
cell = nn.LSTMCell(1, hidden_size)
readout = nn.Linear(hidden_size, output_size)
criterion = nn.MSELoss()
optimizer = torch.optim.Adam([*cell.parameters(), *readout.parameters()], lr=1e-2)

wave = torch.sin(torch.linspace(0, 6, seq_len + 1))
for epoch in range(2):
    optimizer.zero_grad()
    h, c = torch.zeros(batch, hidden_size), torch.zeros(batch, hidden_size)
    loss = 0
    for t in range(seq_len):
        h, c = cell(wave[t].expand(batch, 1), (h, c))
        y_pred = readout(h)
        y_true = wave[t + 1].view(1, 1)
        loss = loss + criterion(y_pred, y_true)
    loss.backward()
    optimizer.step()
