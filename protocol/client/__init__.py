"""The client's side of the protocol: any engine as a Python object."""
