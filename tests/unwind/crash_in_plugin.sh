#!/bin/sh
# The chain of a crash is whole also where a shared library has loaded the modules that it goes
# through.
. tests/lib.sh

has_find_object || skip "glibc before 2.35: such a module is listed later (leakwrap(7))"

# shellcheck disable=SC2086 # a list of flags
library() {
	name=$1
	shift
	$CC $CFLAGS_FOR_TESTS -g -fPIC -shared -o "$W/lib$name.so" \
		tests/unwind/crash_in_plugin.c "$@" -Wl,-rpath,"$W" || fail "cannot build lib$name"
}
library loader -DLOADER
library middle -DMIDDLE
library plugin -DPLUGIN -L"$W" -lmiddle
build program tests/unwind/crash_in_plugin.c "$W/libloader.so" -Wl,-rpath,"$W"
status=0
LEAKWRAP_OPTIONS=crash=1:log=$W/log "$W/program" "$W/libplugin.so" 2>"$W/errors" || status=$?
equal "status" $status 139
"$O/leakwrap" report --all "$W/log@1" >"$W/report" 2>"$W/errors" || fail "report: status $?"
chain=$(sed -n '/^  died of/,/^ *_start /p' "$W/report" |
	sed -n 's/^ *\(fail\|call_back\|run_plugin\|load_and_run\|main\) .*/\1/p' | tr '\n' ' ')
equal "chain" "$chain" "fail call_back run_plugin load_and_run main "
