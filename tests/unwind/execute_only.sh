#!/bin/sh
# The tracer does not read code that may run but must not be read.
#
# lld --execute-only makes such code, and so does a program by mprotect. A processor with memory
# protection keys enforces it. The walk uses the tables. Without tables it does not call the stacks
# complete.
. tests/lib.sh

[ "$(getconf LONG_BIT)" = 64 ] || skip "the file's headers are those of 64 bits"

# only_run FILE: makes the executable segments of the program FILE unreadable.
only_run() {
	python3 - "$1" <<'END'
import struct, sys
with open(sys.argv[1], "r+b") as program:
    header = program.read(64)
    table, = struct.unpack_from("<Q", header, 32)
    count, = struct.unpack_from("<H", header, 56)
    for i in range(count):
        program.seek(table + 56 * i)
        kind, flags = struct.unpack("<II", program.read(8))
        if kind == 1 and flags & 1:
            program.seek(table + 56 * i + 4)
            program.write(struct.pack("<I", 1))
END
}

build with tests/unwind/execute_only.c -O2 -fasynchronous-unwind-tables
no_tables="-O2 -fomit-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables"
# shellcheck disable=SC2086 # a list of flags
build without tests/unwind/execute_only.c $no_tables
# The walk reads the code of a library first to see whether a call stands in front of a word.
# shellcheck disable=SC2086 # lists of flags
$CC $CFLAGS_FOR_TESTS $no_tables -DIS_LIBRARY -shared -fPIC -o "$W/libcalls.so" \
	tests/unwind/execute_only.c || fail "cannot build the library"
# shellcheck disable=SC2086 # a list of flags
build calls tests/unwind/execute_only.c -DHAS_LIBRARY $no_tables -L"$W" -lcalls -Wl,-rpath,"$W"
# check PROGRAM LOG: checks the stack of the block of 44 bytes.
check() {
	site=$(dump_sites "$2" 1 | grep '^44 ')
	case "$1 $site" in
	'with 44 1 complete leak;middle;main;'*';_start;') ;;
	'without 44 1 truncated leak;'* | 'without 44 1 guessed leak;'*) ;;
	*) fail "$1 tables: $site" ;;
	esac
}

"$W/calls" library 2>"$W/calls.log"
case $? in
0) check without "$W/calls.log" ;;
9) ;;
*) fail "library: status $?" ;;
esac

skipped=
for program in with without; do
	for options in unwind=auto unwind=fp unwind=table; do
		for when in first key between; do
			log=$W/$program.$options.$when.log
			LEAKWRAP_OPTIONS="$options" "$W/$program" $when 2>"$log"
			status=$?
			[ $status -ne 9 ] || {
				skipped='this processor reads all code'
				continue
			}
			equal "$program $options $when: status" $status 0
			grep -q '\] end ' "$log" || fail "$program $options $when: no whole dump"
			[ $options != unwind=auto ] || check $program "$log"
		done
	done
	only_run "$W/$program"
	"$W/$program" 2>"$W/$program.log" || fail "$program: status $?"
	check $program "$W/$program.log"
done
[ -z "$skipped" ] || echo "$skipped"
