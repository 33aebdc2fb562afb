"""Positions, games and rules from one form into another."""
