import torch
import torch.nn as nn


class ConvLSTMCell(nn.Module):
    """ConvLSTM with peepholes (Shi et al. 2015).

    input_dim: int
        Number of channels of input tensor.
    hidden_dim: int
        Number of channels of hidden state.
    kernel_size: (int, int)
    spatial: (int, int)
        Height and width, needed by the peephole weights.
    """

    def __init__(self, input_dim, hidden_dim, kernel_size, spatial):
        super(ConvLSTMCell, self).__init__()
        self.hidden_dim = hidden_dim
        padding = kernel_size[0] // 2, kernel_size[1] // 2
        self.conv = nn.Conv2d(input_dim + hidden_dim, 4 * hidden_dim, kernel_size, padding=padding)
        self.w_ci = nn.Parameter(torch.randn(1, hidden_dim, *spatial) * 0.01)
        self.w_cf = nn.Parameter(torch.randn(1, hidden_dim, *spatial) * 0.01)
        self.w_co = nn.Parameter(torch.randn(1, hidden_dim, *spatial) * 0.01)

    def forward(self, x, state):
        h, c = state
        gates = self.conv(torch.cat([x, h], dim=1))
        gi, gf, gg, go = torch.split(gates, self.hidden_dim, dim=1)

        i = torch.sigmoid(gi + self.w_ci * c)
        f = torch.sigmoid(gf + self.w_cf * c)
        c = c.mul_(f).add_(i * torch.tanh(gg))
        o = torch.sigmoid(go + self.w_co * c)
        h = o * torch.tanh(c)
        return h, c

    def init_hidden(self, batch_size, image_size):
        height, width = image_size
        w = self.conv.weight
        return (torch.zeros(batch_size, self.hidden_dim, height, width, device=w.device, dtype=w.dtype),
                torch.zeros(batch_size, self.hidden_dim, height, width, device=w.device, dtype=w.dtype))


class ConvLSTM(nn.Module):
    """Stack of cells.

    Input:  B, T, C, H, W  (or T, B, C, H, W with batch_first=False)
    Output: list of outputs per layer, list of last states (h, c) per layer
    """

    def __init__(self, input_dim, hidden_dim, kernel_size, num_layers, spatial, batch_first=True,
                 return_all_layers=False):
        super(ConvLSTM, self).__init__()
        kernel_size = self._extend_for_multilayer(kernel_size, num_layers)
        hidden_dim = self._extend_for_multilayer(hidden_dim, num_layers)
        if not len(kernel_size) == len(hidden_dim) == num_layers:
            raise ValueError('Inconsistent list length.')
        self.spatial = tuple(spatial)
        self.num_layers = num_layers
        self.batch_first = batch_first
        self.return_all_layers = return_all_layers

        cell_list = []
        for i in range(num_layers):
            cur_input_dim = input_dim if i == 0 else hidden_dim[i - 1]
            cell_list.append(ConvLSTMCell(cur_input_dim, hidden_dim[i], kernel_size[i], self.spatial))
        self.cell_list = nn.ModuleList(cell_list)

    @staticmethod
    def _extend_for_multilayer(param, num_layers):
        return param if isinstance(param, list) else [param] * num_layers

    def forward(self, input_tensor, hidden_state=None):
        if not self.batch_first:
            input_tensor = input_tensor.permute(1, 0, 2, 3, 4)
        b, seq_len, _, h, w = input_tensor.size()
        assert (h, w) == self.spatial, 'frames do not fit the peephole weights'

        if hidden_state is None:
            hidden_state = [cell.init_hidden(b, (h, w)) for cell in self.cell_list]

        layer_output_list = []
        last_state_list = []
        cur_layer_input = input_tensor
        for layer_idx, cell in enumerate(self.cell_list):
            h, c = hidden_state[layer_idx]
            output_inner = []
            for t in range(seq_len):
                h, c = cell(cur_layer_input[:, t], (h, c))
                output_inner.append(h)
            layer_output = torch.stack(output_inner, dim=1)
            cur_layer_input = layer_output
            layer_output_list.append(layer_output)
            last_state_list.append([h, c])

        if not self.return_all_layers:
            layer_output_list = layer_output_list[-1:]
            last_state_list = last_state_list[-1:]
        return layer_output_list, last_state_list
