"""What latency is taken in, one file each."""
