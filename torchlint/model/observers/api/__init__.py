"""References to torch's API that only the model can tell: methods of tensors."""
