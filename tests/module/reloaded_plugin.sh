#!/bin/sh
# A plugin that is loaded and unloaded for ever takes memory only for what is new.
#
# At an address where it has been before, it takes no memory. At a new address it takes a module
# record and a call site. Neither loading nor a dump takes longer the more plugins there were.
# timeout: 240
. tests/lib.sh

$CC -O2 -shared -fPIC -o "$W/plugin.so" tests/stress/plugin.c || fail "cannot build the plugin"
build reloads tests/module/reloaded_plugin.c

# grown WHERE COUNT: prints by how many bytes the tracer grew from a tenth of the way to the end.
grown() {
	LEAKWRAP_OPTIONS=log="$W/log.$1" "$W/reloads" "$W/plugin.so" "$2" "$1" >"$W/out" ||
		fail "$1: status $?"
	read -r before after first last <"$W/out"
	echo $((after - before))
}

bytes=$(grown same 2000)
[ "$bytes" -lt 50000 ] || fail "2,000 times at the same address: the tracer grew by $bytes bytes"
# 9,000 module records, each with its path, which depends on the folder of this test.
path="$W/plugin.so"
most=$((9000 * (1000 + ${#path} + 16)))
bytes=$(grown new 10000)
[ "$bytes" -lt "$most" ] || fail "10,000 times at new addresses: the tracer grew by $bytes bytes"
read -r before after first last <"$W/out"
[ "$last" -lt $((3 * first)) ] ||
	fail "the first 1,000 new addresses took $first ms, the last 1,000 $last ms"
dump_ns=$(dump_value "$W/log.new" 1 dump_ns)
[ "$dump_ns" -lt 100000000 ] || fail "a dump without call sites took $dump_ns ns"
