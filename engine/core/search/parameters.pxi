# All tuned constants of the search. A build for tuning (MERELS_TUNE=1) turns them into variables,
# which options set.

cdef extern from *:
    """
    #define MERELS_PARAMETERS(X)  /* name, value, bounds of a tuning run */ \\
        X(FUTILITY_DEPTH, 5, 1, 10) \\
        X(FUTILITY_MARGIN, 30, 10, 200)      /* hundredths of a man for each ply */ \\
        X(PLACING_MARGIN, 20, 0, 200)        /* added in the placing phase */ \\
        X(REDUCTION_BASE, 60, -100, 200)     /* hundredths of a ply */ \\
        X(REDUCTION_DIVISOR, 180, 100, 500)  /* hundredths */ \\
        X(REDUCTION_DEPTH, 3, 2, 8) \\
        X(PRUNING_DEPTH, 3, 1, 8)            /* maximum depth of late move pruning */ \\
        X(PRUNING_COUNT, 4, 1, 20)           /* plus depth squared: quiet moves searched */ \\
        X(EXTENSION_PLIES, 2, 1, 4)          /* times root depth: first ply without extensions */ \\
        X(IIR_DEPTH, 5, 2, 12) \\
        X(PROBCUT_DEPTH, 5, 3, 12) \\
        X(PROBCUT_REDUCTION, 4, 1, 8) \\
        X(PROBCUT_MARGIN, 100, 10, 400)      /* hundredths of a man */ \\
        X(ASPIRATION_DEPTH, 4, 2, 10) \\
        X(ASPIRATION_WINDOW, 24, 4, 120)     /* hundredths of a man */ \\
        X(ASPIRATION_GROWTH, 400, 120, 1000) /* percent */ \\
        X(REPETITION_PENALTY, 10, 0, 100)    /* hundredths of a man */ \\
        X(HISTORY_BONUS, 8, 1, 40) \\
        X(HISTORY_LIMIT, 2048, 128, 8192)

    #define MERELS_VARIABLE(name, value, low, high) static int name = value;
    #define MERELS_CONSTANT(name, value, low, high) name = value,
    #define MERELS_ROW(name, value, low, high) {#name, &name, low, high},
    typedef struct { const char *name; int *value; int low, high; } merels_parameter;

    #ifdef MERELS_TUNE
      MERELS_PARAMETERS(MERELS_VARIABLE)
      enum { TUNING = 1 };
      static const merels_parameter TUNED[] = {MERELS_PARAMETERS(MERELS_ROW) {0, 0, 0, 0}};
    #else
      enum { MERELS_PARAMETERS(MERELS_CONSTANT) TUNING = 0 };
      static const merels_parameter TUNED[] = {{0, 0, 0, 0}};
    #endif
    """
    ctypedef struct Parameter "merels_parameter":
        const char *name
        int *value
        int low
        int high
    const Parameter TUNED[1]
    const int TUNING
    const int FUTILITY_DEPTH, FUTILITY_MARGIN, PLACING_MARGIN
    const int REDUCTION_BASE, REDUCTION_DIVISOR, REDUCTION_DEPTH
    const int PRUNING_DEPTH, PRUNING_COUNT, EXTENSION_PLIES
    const int IIR_DEPTH, PROBCUT_DEPTH, PROBCUT_REDUCTION, PROBCUT_MARGIN
    const int ASPIRATION_DEPTH, ASPIRATION_WINDOW, ASPIRATION_GROWTH
    const int REPETITION_PENALTY
    const int HISTORY_BONUS, HISTORY_LIMIT


def parameters():
    rows = []
    cdef int i = 0
    while TUNED[i].name != NULL:
        name = TUNED[i].name.decode().title().replace("_", "")
        rows.append((name, TUNED[i].value[0], TUNED[i].low, TUNED[i].high))
        i += 1
    return rows


def set_parameter(int index, int value):
    if not 0 <= index < len(parameters()) or not TUNED[index].low <= value <= TUNED[index].high:
        raise ValueError(f"no parameter {index}, or value {value} out of bounds")
    TUNED[index].value[0] = value
