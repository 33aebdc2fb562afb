"""The Mill Interchange Format, candidate 1.0: positions as MFEN, rule sets as manifests.

The draft, ``mif-1.0.md`` of github.com/calcitem/mill-interchange-format, may change. Only this
package depends on its wording. It reads the positions and rules of the draft that merels supports;
an error names any other part.
"""
