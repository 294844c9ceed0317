# linker-flags.mk - the one list of the wrapped symbols, and the flags that wrap them.

LEAKWRAP_FAMILIES := malloc

LEAKWRAP_SYMBOLS_malloc := malloc free calloc realloc
