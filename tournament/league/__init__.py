"""Leagues: players that come and go, the next games chosen by their information, and a site."""
