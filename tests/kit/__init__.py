"""What the tests of all layers share: the session's folders, shards, waiting, fakes."""
