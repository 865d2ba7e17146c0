"""Training by gradient descent: the step, layouts of candidates in memory, losses, models, devices."""
