"""One module a source, or a family of them; each registers itself."""
