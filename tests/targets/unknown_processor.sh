#!/bin/sh
# On a processor that the tracer does not know, programs run as untraced. Dumps are exact, and each
# stack is one frame, or complete with -finstrument-functions.
. tests/lib.sh
. tests/targets/target.sh

target powerpc64le-linux-gnu qemu-ppc64le
cat >"$W/program.c" <<'END'
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "tests/noinline.h"
static void *volatile kept;
static NOINLINE void inner(size_t size)
{
	kept = malloc(size);
	free(realloc(strdup("freed"), 100));
}
static NOINLINE void outer(void)
{
	inner(100);
	inner(7);
}
int main(void)
{
	outer();
	return raise(SIGUSR1) == 0 ? 3 : 4;
}
END
for link in -static ''; do
	for way in auto instrument; do
		what="'$link', $way"
		flags=
		[ $way = auto ] || flags=-finstrument-functions
		rm -f "$W/log"
		# shellcheck disable=SC2046,SC2086 # lists of flags
		"$gcc" $TARGET_CFLAGS $flags $link -o "$W/program" "$W/program.c" \
			$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS | of_runtime) ||
			fail "$what: cannot link"
		LEAKWRAP_OPTIONS=log=$W/log:unwind=$way $run "$W/program"
		equal "$what: status" $? 3
		for dump in 1 2; do
			dump_is_whole "$W/log" $dump || fail "$what: no whole dump $dump"
			equal "$what: dump $dump" "$(site_by "$W/log" $dump inner)" "107 2"
		done
		stacks=$(dump_sites "$W/log" 1 | grep -o 'inner;.*' | sed 's/main;.*/main/')
		case $way in
		auto) equal "$what: stacks" "$(echo "$stacks" | sort -u)" "inner;" ;;
		instrument)
			equal "$what: stacks" "$(echo "$stacks" | sort -u)" "inner;outer;main"
			;;
		esac
	done
done
"$lw" audit "$W/program" >"$W/audit" || fail "audit: status $?"
grep -q '^quality: stacks of this machine are not walked$' "$W/audit" ||
	fail "audit: $(cat "$W/audit")"
