"""The commands of the protocol layer: their flags, output and exit status."""
