# The tables that the solver works with: they belong to the core's `TableSet`.
#
# Needs probe.pxi.

if getattr(core, "TABLES_LAYOUT", None) != tables_layout():
    raise ImportError(
        f"{__name__} and {core.__name__} come from different builds: reinstall merels, or in a "
        "checkout run python setup.py build_ext --inplace")


# What a set of tables holds, for as long as the set lives.
cdef Tables *shared_tables(tables) except NULL:
    if not isinstance(tables, core.TableSet):
        raise TypeError(f"expected a TableSet, found {type(tables).__name__}")
    return <Tables *>PyCapsule_GetPointer(tables.shared, "merels.Tables")
