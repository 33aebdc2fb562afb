"""The command line of this floor: flags, printing, exit status."""
