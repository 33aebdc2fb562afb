"""The page's requests: each changes a board, or answers a question about it."""
