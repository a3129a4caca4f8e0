"""A MindSpore Cell as the candidate; MindSpore itself is loaded with it alone."""
