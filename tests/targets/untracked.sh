#!/bin/sh
# Blocks that could not be recorded are counted in bytes beyond 4 GiB, also on 32 bits.
. tests/lib.sh
. tests/targets/target.sh

target i686-linux-gnu qemu-i386
cat >"$W/untracked.c" <<'END'
#include <stdlib.h>
int main(void)
{
	for (int i = 0; i < 6000; i++)
		free(malloc(1 << 20));
	return 0;
}
END
# shellcheck disable=SC2046,SC2086 # lists of flags
"$gcc" $TARGET_CFLAGS -static -o "$W/untracked" "$W/untracked.c" \
	$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS | of_runtime) ||
	fail "cannot link"
if "$W/untracked" 2>"$W/log"; then
	run= # by this machine's own kernel
fi
LEAKWRAP_OPTIONS=memory=4K $run "$W/untracked" 2>"$W/log" || fail "status $?"
blocks=$(dump_value "$W/log" 1 untracked_blocks)
bytes=$(dump_value "$W/log" 1 untracked_bytes)
[ "$blocks" -ge 6000 ] || fail "$blocks blocks"
# The C library's own blocks are small.
equal "MiB" $((bytes >> 20)) 6000
