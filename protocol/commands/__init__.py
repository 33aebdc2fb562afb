"""The commands of this floor: flags, printing, exit status."""
