"""A PyTorch module as the reference; PyTorch itself is loaded with it alone."""
