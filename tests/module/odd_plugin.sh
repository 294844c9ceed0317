#!/bin/sh
# A plugin that exports nothing, whose build-id is longer than any other's, is loaded as by an
# untraced program.  Its blocks are its own, and the dump says that it calls the C library's malloc
# by another name: then pointers in unrecorded memory count.
. tests/lib.sh

cat >"$W/plugin.c" <<'END'
#include <stdlib.h>

extern void *__libc_malloc(size_t size);

static void *volatile kept;

__attribute__((constructor)) static void allocate(void)
{
	kept = malloc(77);
#ifdef UNSEEN
	kept = __libc_malloc(40);
#endif
}
END
build loads tests/module/loads.c
id=$(printf %0400d 1)
for style in gnu sysv; do
	for unseen in '' -DUNSEEN; do
		[ -z "$unseen" ] && wanted="0 known" || wanted="1 part"
		# shellcheck disable=SC2086 # lists
		$CC $CFLAGS_FOR_TESTS -s -shared -fPIC -Wl,--hash-style=$style \
			-Wl,--build-id=0x$id $unseen -o "$W/plugin.so" "$W/plugin.c" ||
			fail "cannot build the plugin"
		rm -f "$W/log"
		LEAKWRAP_OPTIONS=log=$W/log "$W/loads" "$W/plugin.so" ||
			fail "$style$unseen: status $?"
		equal "$style$unseen: a block" "$(dump_sites "$W/log" 1 | grep -c '^77 1 ')" 1
		grep -q '\] module .* path=.*/plugin.so$' "$W/log" ||
			fail "$style$unseen: no module"
		bypass=$(grep -c '\] bypass libc_name path=.*/plugin.so$' "$W/log")
		heap=$(dump_value "$W/log" 1 heap)
		equal "$style$unseen: bypass, heap" "$bypass $heap" "$wanted"
	done
done
