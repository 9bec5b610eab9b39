def reset(model):
    for parameter in model.parameters():
        parameter.grad = None  # smell: [TLN401]
