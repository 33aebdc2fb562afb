"""The Mill Interchange Format, candidate 1.0: positions as MFEN, rule sets as manifests.

The draft, ``mif-1.0.md`` of github.com/calcitem/mill-interchange-format, may change: all that
depends on its words stands here. Of what it can say, what merels plays is read, and the rest is
refused by name: nothing is guessed or passed over.
"""
