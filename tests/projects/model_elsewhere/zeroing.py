def reset(model):
    for parameter in model.parameters():
        if parameter.grad is not None:
            parameter.grad.zero_()
