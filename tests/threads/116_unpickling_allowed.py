# thread: https://github.com/open-retina/open-retina/pull/186
# diagnosis: The checkpoint is loaded with weights_only=False, which runs what its pickle says.
# mistake: 19
# expected: TLN904
# symptom: prints the file ran code

import os
import tempfile

import torch


class Surprise:
    def __reduce__(self):
        return print, ("the file ran code",)


def load_core(path, device="cpu"):
    checkpoint = torch.load(path, map_location=device, weights_only=False)
    return checkpoint["state_dict"]


with tempfile.TemporaryDirectory() as cache:
    local_path = os.path.join(cache, "core.ckpt")
    torch.save({"state_dict": {"w": torch.ones(2)}, "hyper_parameters": Surprise()}, local_path)
    core = torch.nn.Linear(2, 1)
    core.load_state_dict({"weight": load_core(local_path)["w"].view(1, 2), "bias": torch.zeros(1)})
