"""What layers, losses and optimizers of torch hold, take, save and give. Knows nothing of programs."""
