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

# build_musl NAME FLAG...: $W/NAME from tests/rules/NAME.c.
build_musl() {
	name=$1
	shift
	# shellcheck disable=SC2046,SC2086 # lists
	musl-gcc $TARGET_CFLAGS "$@" -o "$W/$name" "tests/rules/$name.c" -pthread \
		$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS | sed "s|$O/libleakwrap.a|$lib|g") 2>"$W/link" ||
		fail "$name: $(tail -n 5 "$W/link")"
}

# In musl one wait is made of another, but there is one dump for each signal.
build_musl handlers -static
for how in sigwait sigwaitinfo sigtimedwait; do
	"$W/handlers" $how >"$W/out" 2>"$W/log" || fail "$how: status $?"
	equal "$how: dumps" "$(grep -c 'reason=signal' "$W/log")" 1
done

# The main thread's stack ends where the environment was at start.
build_musl environment -fno-omit-frame-pointer
LEAKWRAP_OPTIONS=unwind=fp "$W/environment" 2>"$W/log" || fail "environment: status $?"
equal "another environment: truncated" "$(dump_value "$W/log" 1 truncated_blocks)" 0
echo "$tried programs"
