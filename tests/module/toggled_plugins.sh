#!/bin/sh
# Plugins that come and go for ever, in ever-new sets, take a bounded amount of memory.
. tests/lib.sh

$CC -O2 -shared -fPIC -o "$W/plugin.so" tests/stress/plugin.c || fail "cannot build the plugin"
plugins=
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
	cp "$W/plugin.so" "$W/$i.so"
	plugins="$plugins $W/$i.so"
done
build toggles tests/module/toggled_plugins.c -Wl,--wrap=leakwrap_time_monotonic

# shellcheck disable=SC2086 # a list
LEAKWRAP_OPTIONS=exit=0 "$W/toggles" $plugins >"$W/out" || fail "status $?"
read -r half end <"$W/out"
echo "tracer_bytes after 10,000 turns: $half, after 20,000: $end"
[ $((end - half)) -lt 200000 ] || fail "the tracer grew by $((end - half)) bytes"
