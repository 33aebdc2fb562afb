"""Engine processes: start, communication, resource limits and end."""
