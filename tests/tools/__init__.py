"""Tests of the tools under tests/, run only in CI."""
