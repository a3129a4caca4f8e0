"""Small files that the manual shows; the tests run each of them."""
