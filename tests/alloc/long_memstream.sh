#!/bin/sh
# The memory of an open_memstream is recorded once, at its fclose, however long it is, in every C
# library and kind of link; no counter says anything.
# timeout: 240
. tests/lib.sh

failed=
check() {
	"$W/$1" 2>"$W/log.$1" || fail "$1: status $?"
	set -- "$1" "$(site_by "$W/log.$1" 1 write_bytes)"
	# musl's buffer is larger than the text.
	case $2 in
	[12][0-9][0-9][0-9][0-9][0-9]" 1") ;;
	*) failed="$failed; $1: '$2' is live" ;;
	esac
	for key in untracked_blocks freed_elsewhere_blocks foreign_frees; do
		count=$(dump_value "$W/log.$1" 1 $key)
		[ "$count" = 0 ] || failed="$failed; $1: $key=$count"
	done
}

# Calls of the C library's own are not seen.
build_program_only program -DIS_PROGRAM_ONLY tests/alloc/long_memstream.c
check program
"$W/program" many 2>"$W/log" || fail "many: status $?"
equal "many" "$(dump_value "$W/log" 1 untracked_blocks)" 6
"$W/program" stale 2>"$W/log" || fail "stale: status $?"
equal "stale" "$(site_by "$W/log" 1 write_bytes)" "100001 1"
equal "stale, untracked" "$(dump_value "$W/log" 1 untracked_blocks)" 0
build glibc tests/alloc/long_memstream.c
check glibc
build glibc-static -static tests/alloc/long_memstream.c
check glibc-static
if command -v musl-gcc >"$W/which"; then
	. tests/targets/target.sh
	runtime x86_64-linux-musl CC=musl-gcc
	for how in -pie -static; do
		# shellcheck disable=SC2046,SC2086,SC2154 # lists; lib is set by runtime
		musl-gcc $TARGET_CFLAGS $how -o "$W/musl$how" tests/alloc/long_memstream.c \
			$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS |
				of_runtime) ||
			fail "cannot build musl$how"
		check "musl$how"
	done
fi
[ -z "$failed" ] || fail "${failed#; }"
