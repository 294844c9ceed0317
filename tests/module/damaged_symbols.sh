#!/bin/sh
# A plugin whose calls refer to symbols that it does not have is loaded as by an untraced program:
# it never calls the functions. Behind its symbols and between its segments nothing is read.
. tests/lib.sh

cat >"$W/plugin.c" <<'END'
#include <stdlib.h>

void *call_some(const char *name);

void *call_some(const char *name)
{
	return getenv(name) ? malloc(77) : calloc(1, 77);
}
END
build loads tests/module/loads.c
# shellcheck disable=SC2086 # lists
{
	$CC $CFLAGS_FOR_TESTS -o "$W/untraced" tests/module/loads.c ||
		fail "cannot build the untraced program"
	$CC $CFLAGS_FOR_TESTS -o "$W/damage" tests/module/damaged_symbols.c ||
		fail "cannot build damage"
	# The pages between the segments cannot be read.
	$CC $CFLAGS_FOR_TESTS -g0 -s -shared -fPIC -Wl,-z,lazy -Wl,-z,max-page-size=0x200000 \
		-Wl,-z,noseparate-code -o "$W/whole.so" "$W/plugin.c" ||
		fail "cannot build the plugin"
}
for index in 0x100 0x400 0x8000 0x20000 0x40000 0xffffff; do
	cp "$W/whole.so" "$W/plugin.so"
	"$W/damage" "$W/plugin.so" $index || fail "cannot damage the plugin: status $?"
	"$W/untraced" "$W/plugin.so" || skip "the C library does not load the plugin"
	LEAKWRAP_OPTIONS=log=$W/log.$index "$W/loads" "$W/plugin.so" || fail "$index: status $?"
done
