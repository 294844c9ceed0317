#!/bin/sh
# A plugin that was loaded by a relative path stands in dumps with an absolute path, once, although
# the program goes to another folder and loads another plugin there.
. tests/lib.sh

build goes tests/module/relative_path.c
for plugin in first second; do
	# shellcheck disable=SC2086 # a list
	$CC $CFLAGS_FOR_TESTS -shared -fPIC -o "$W/$plugin.so" tests/stress/plugin.c ||
		fail "cannot build $plugin"
done
here=$(cd "$W" && pwd -P)
mkdir -p "$W/other"

(cd "$W" && LEAKWRAP_OPTIONS=log="$here/log" ./goes other) || fail "status $?"
equal "paths" "$(dump_lines "$W/log" 1 | sed -n 's/^module .* path=\(.*\.so\)$/\1/p' | sort)" \
	"$here/first.so
$here/second.so"
(cd / && "$O/leakwrap" report -f folded "$here/log") >"$W/report" 2>"$W/err" || fail "report"
equal "report" "$(grep -c ';plugin_allocates ' "$W/report") $(cat "$W/err")" "3 "
