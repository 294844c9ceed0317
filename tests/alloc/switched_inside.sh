#!/bin/sh
# What is recorded changes between an inner call and the end of the outer call: their block is
# recorded once, and no sample of it is left.
. tests/lib.sh

# A strdup of the program's own, in a file of its own: only so its calls are wrapped.
cat >"$W/strdup.c" <<'END'
#include "leakwrap.h"
#include <stdlib.h>
#include <string.h>
char *strdup(const char *text)
{
	char *copy = malloc(strlen(text) + 1);

	if (copy)
		strcpy(copy, text);
	leakwrap_set_sample(0);
	return copy;
}
END
build program tests/alloc/switched_inside.c "$W/strdup.c"
"$W/program" >"$W/out" 2>"$W/log" || fail "status $?"
equal "blocks of the call, and after free" "$(cat "$W/out")" "1 0"
