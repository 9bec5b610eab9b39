"""What functions that make tensors take and give: arguments, shapes, dtypes. Knows nothing of programs."""
