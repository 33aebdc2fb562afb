"""Whole tournaments whose engines misbehave and whose runner is killed: does all of it hold?"""
