# thread: https://github.com/pytorch/pytorch/issues/16413
# diagnosis: The loss gets a vector and a column, which broadcast to a matrix.
# mistake: 15
# expected: TLN606
# symptom: warns Using a target size

import torch
import torch.nn as nn



def calibration_error(readings, references):
    reading = torch.tensor([float(r) for r in readings])
    truth = torch.tensor([[float(r)] for r in references])
    return nn.MSELoss()(reading, truth)


loss = calibration_error(readings=range(1, 4), references=range(1, 4))
print("loss of a perfect prediction:", loss.item())
