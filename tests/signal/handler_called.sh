#!/bin/sh
# A library may call the tracer's handler as a function of one argument: the program goes on as
# untraced. With crash=1 there is a crash dump, and on the dump signal a dump. The program's own
# handler runs.
. tests/lib.sh

# shellcheck disable=SC2086 # a list of flags
$CC $CFLAGS_FOR_TESTS -fPIC -shared -DLIBRARY -o "$W/libcatch.so" tests/signal/handler_called.c ||
	fail "cannot build the library"
build program tests/signal/handler_called.c "$W/libcatch.so" -Wl,-rpath,"$W"

# run STATUS OPTIONS ARGUMENT...: runs the program, which ends with STATUS.
run() {
	rm -f "$W/log"
	wanted=$1 options=$2 status=0
	shift 2
	LEAKWRAP_OPTIONS=log=$W/log:$options "$W/program" "$@" 2>"$W/errors" || status=$?
	equal "$*, $options: status" $status "$wanted"
}

run 134 crash=0 11
equal "without crash=1" "$(dumps "$W/log" | wc -l)" 0
for how in 11 "11 raise"; do
	# shellcheck disable=SC2086 # two words
	run 134 crash=1 $how
	dump_is_whole "$W/log" 1 || fail "$how: no whole dump"
	equal "$how: reason" "$(dump_value "$W/log" 1 reason)" crash
	equal "$how: signal" "$(dump_value "$W/log" 1 signal)" 11
	dump_lines "$W/log" 1 | grep -q '^note a handler of the program has called' ||
		fail "$how: $(dump_lines "$W/log" 1)"
done
run 134 signal=USR1 10 raise
dump_is_whole "$W/log" 1 || fail "USR1: no whole dump"
equal "USR1: reason" "$(dump_value "$W/log" 1 reason)" signal
equal "USR1: live" "$(site_by "$W/log" 1 main)" "100 1"
run 7 exit=0 10 own
equal "USR1, own handler: live" "$(site_by "$W/log" 1 main)" "100 1"
