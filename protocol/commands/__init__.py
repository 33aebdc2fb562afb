"""The commands of this layer: flags, printing, exit status."""
