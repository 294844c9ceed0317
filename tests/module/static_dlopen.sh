#!/bin/sh
# A static program that has loaded a module is covered in part for ever after: what the module has
# allocated by its own C library is not seen.
. tests/lib.sh

$CC -O2 -shared -fPIC -o "$W/plugin.so" tests/stress/plugin.c || fail "cannot build the plugin"
$CC -static -print-file-name=libc.a | grep -q / || skip "no static C library"
build loads -static -Wl,--no-fatal-warnings tests/module/static_dlopen.c 2>"$W/warnings" ||
	fail "$(cat "$W/warnings")"
status=0
LEAKWRAP_OPTIONS=log="$W/log" "$W/loads" "$W/plugin.so" || status=$?
[ $status -ne 77 ] || skip "the static C library cannot load modules"
equal "status" $status 0
for dump in 1 2 3 4; do
	wanted=program
	[ $dump -gt 1 ] || wanted=process
	equal "dump $dump" "$(dump_lines "$W/log" $dump | grep '^coverage')" "coverage $wanted"
done
