"""Engine processes: started, talked to, limited and ended."""
