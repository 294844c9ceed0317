#!/bin/sh
# x86-64 with musl, whose own code has no unwind tables.
. tests/lib.sh
. tests/targets/target.sh

command -v musl-gcc >/dev/null || skip "musl-gcc is not installed"
runtime x86_64-linux-musl CC=musl-gcc
run=

program musl-gcc
vendor musl-gcc
for how in -pie -no-pie -static -static-pie; do
	relink musl-gcc $how
	everything "musl-gcc $how"
done

# In musl one wait is made of another, but there is one dump for each signal.
for how in sigwait sigwaitinfo sigtimedwait; do
	# shellcheck disable=SC2046,SC2086 # lists
	musl-gcc $TARGET_CFLAGS -static -o "$W/handlers" tests/rules/handlers.c -pthread \
		$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS | sed "s|$O/libleakwrap.a|$lib|g") 2>"$W/link" ||
		fail "handlers: $(tail -n 5 "$W/link")"
	"$W/handlers" $how >"$W/out" 2>"$W/log" || fail "$how: status $?"
	equal "$how: dumps" "$(grep -c 'reason=signal' "$W/log")" 1
done
echo "$tried programs"
