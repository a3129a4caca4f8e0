"""The manual, English and Chinese, and what keeps its tables and outputs equal to the program."""
