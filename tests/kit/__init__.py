"""Tools for the tests of all layers: folders of a run, and its division into shards."""
