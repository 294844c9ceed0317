#!/bin/sh
# Programs relinked by lld behave as before, and their leaks are found: dynamic and static, C and
# C++.
LINKER=lld
. tests/lib.sh
. tests/link/matrix

# A static program that lacks the flags for lld has no wrapper of sigaction. It runs, and dumps at
# its end. lld 11 brings in all wrappers by itself.
echo '#include <stdlib.h>
void *volatile kept;
int main(void) { kept = malloc(7); return kept == NULL; }' >"$W/ends.c"
# shellcheck disable=SC2046 # a list of flags
gcc -static -fuse-ld=lld -o "$W/ends" "$W/ends.c" \
	$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS) ||
	fail "cannot link without the flags for lld"
LEAKWRAP_OPTIONS="log=$W/ends.log" "$W/ends" 2>"$W/errors" || fail "without the flags: status $?"
dump_is_whole "$W/ends.log" 1 || fail "without the flags: no whole dump"
nm "$W/ends" >"$W/names"
if grep -q ' T __wrap_sigaction$' "$W/names"; then
	equal "without the flags, with the wrapper" "$(cat "$W/errors")" ""
else
	grep -q 'no signal asks for dumps: .*leakwrap audit' "$W/errors" ||
		fail "without the flags: $(cat "$W/errors")"
fi
