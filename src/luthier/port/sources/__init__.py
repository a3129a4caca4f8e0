"""What a port can begin from: each reads its source into the one graph."""
