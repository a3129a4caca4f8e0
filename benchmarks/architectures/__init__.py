"""Public architectures, ported and proven."""
