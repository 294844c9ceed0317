#!/bin/sh
# A plugin that is loaded and unloaded for ever takes memory for what is new alone: nothing when it comes back to the same
# address, its own record and call site when it comes to another one.
# timeout: 240
. tests/lib.sh

$CC -O2 -shared -fPIC -o "$W/plugin.so" tests/stress/plugin.c || fail "cannot build the plugin"
build reloads tests/rules/reloads.c

# grown WHERE COUNT: bytes from a tenth of the way to the end.
grown() {
	LEAKWRAP_OPTIONS=exit=0 "$W/reloads" "$W/plugin.so" "$2" "$1" >"$W/out" || fail "$1: status $?"
	read -r before after <"$W/out"
	echo $((after - before))
}

bytes=$(grown same 2000)
[ "$bytes" -lt 50000 ] || fail "2,000 times at the same address: the tracer grew by $bytes bytes"
bytes=$(grown new 10000)
[ "$bytes" -lt 8000000 ] || fail "10,000 times at new addresses: the tracer grew by $bytes bytes"
