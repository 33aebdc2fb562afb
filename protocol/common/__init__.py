"""Engine options and fields of JSON objects, for both sides of the protocol."""
