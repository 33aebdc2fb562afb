"""Engine options, fields of JSON objects, text files and notices to the user."""
