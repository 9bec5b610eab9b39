# thread: https://github.com/YeongChanLee/ICD2Vec/issues/13
# diagnosis: A whole pickled object is loaded with the default of weights_only, which refuses it.
# mistake: 23
# expected: none
# symptom: raises UnpicklingError: Weights only load failed

import argparse
import os
import tempfile

import torch


class Checkpoint:
    def __init__(self, weights, release):
        self.weights, self.release = weights, release


def main(argv):
    parser = argparse.ArgumentParser()
    parser.add_argument("path_to_checkpoint")
    args = parser.parse_args(argv)
    state = torch.load(args.path_to_checkpoint, map_location="cpu")
    print(len(state.weights))


with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "bert.pt")
    torch.save(Checkpoint({"embedding": torch.zeros(3, 2)}, "1.0"), path)
    main([path])
