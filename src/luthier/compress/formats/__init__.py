"""The formats that a network is exported in, one file each."""
