def clear(optimizer):
    optimizer.zero_grad()
