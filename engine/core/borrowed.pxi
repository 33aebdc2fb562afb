# Access to the core's shared structures from the other extensions.
#
# Needs shared.pxi, tablebase/index.pxi.

if getattr(core, "SHARED_LAYOUT", None) != shared_layout():
    raise ImportError(
        f"{__name__} and {core.__name__} come from different builds: reinstall merels, or in a "
        "checkout run python setup.py build_ext --inplace")


# The shared structure of an object of the core's class `kind`, valid as long as the object lives.
cdef void *borrow(owner, kind, const char *name) except NULL:
    if not isinstance(owner, kind):
        raise TypeError(f"expected a {kind.__name__}, found {type(owner).__name__}")
    return PyCapsule_GetPointer(owner.shared, name)


# A set of tables. Its readers need the index of places, which each extension has to load.
cdef Tables *borrow_tables(tables) except NULL:
    load_index(MEN_PER_SIDE)
    return <Tables *>borrow(tables, core.TableSet, "merels.Tables")
