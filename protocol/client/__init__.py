"""The client's side: any engine as a Python object."""
