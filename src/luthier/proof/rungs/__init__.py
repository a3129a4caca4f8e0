"""The rungs, one file each: a function from what is shared to what was found."""
