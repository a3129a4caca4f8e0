"""One small function an operator, in families; every file here is read when the first rule is asked for."""
