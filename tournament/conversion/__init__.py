"""Games of journals, and games of other forms as journals."""
