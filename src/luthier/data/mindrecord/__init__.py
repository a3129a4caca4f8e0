"""MindSpore's record format, read and written without MindSpore: `layout.py` says what stands where."""
