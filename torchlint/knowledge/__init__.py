"""
What is known of torch: operations, layers, losses, optimizers, factories, shapes.

Facts alone, each held against running torch in the tests. Knows nothing of programs, and never imports torch.
"""
