#!/bin/sh
# A program with more than 2 GB of variables is traced: with -mcmodel=large by a runtime of this
# model, with -mcmodel=medium of gcc by the usual one.
# timeout: 300
. tests/lib.sh

case $($CC -dumpmachine) in
x86_64-*) ;;
*) skip "the models are those of x86-64" ;;
esac
cat >"$W/program.c" <<'EOF'
#include <stdlib.h>
#include "tests/noinline.h"
char variables[3UL << 30];
static NOINLINE void keep(size_t size, size_t at)
{
	*(void *volatile *)&variables[at] = malloc(size);
}
int main(void)
{
	keep(100, sizeof(variables) - 64);
	keep(50, 64);
	*(void *volatile *)&variables[64] = NULL;
	return 3;
}
EOF
# traced HOW: runs the program that was linked in this way.
traced() {
	rm -f "$W/log"
	LEAKWRAP_OPTIONS=log=$W/log "$W/program" >"$W/out" 2>&1
	equal "$1: status" $? 3
	equal "$1" "$(site_by "$W/log" 1 keep)" "150 2"
	dump_lines "$W/log" 1 | grep -q '^kinds definite_bytes=50 .* reachable_bytes=100 ' ||
		fail "$1: $(dump_lines "$W/log" 1 | grep '^kinds')"
}
build_plain plain -fno-builtin -mcmodel=large "$W/program.c"
"$W/plain" || [ $? -eq 3 ] || skip "there is no address space for the variables"
# clang puts large variables among the others, also with -mcmodel=medium.
for how in $($CC -dM -E -x c /dev/null | grep -q __clang__ || echo -pie -no-pie); do
	build program -fno-builtin -mcmodel=medium "$how" "$W/program.c"
	traced "medium $how"
done

# The program calls no function of the other families.
runtime large_model CC="$CC -mcmodel=large" RUNTIME_FAMILIES="malloc exit signal"
for how in -pie -no-pie; do
	# shellcheck disable=SC2046 # a list of flags
	$CC -O2 -fno-builtin -mcmodel=large $how -I. -o "$W/program" "$W/program.c" \
		$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS | of_runtime) \
		>"$W/link" 2>&1 || fail "large $how: $(tail -n 3 "$W/link")"
	traced "large $how"
done
