#!/bin/sh
# If the bound memory= leaves no room for a plugin, the tracer does not try to list it at each
# allocation.
#
# Each try takes pages from the system and gives them back.
. tests/lib.sh

build plugins tests/limits/unlisted_plugins.c -fno-optimize-sibling-calls
build_plain plugin.so -shared -fPIC tests/unwind/plugin.c
mkdir "$W/many"
for i in $(seq 100); do
	cp "$W/plugin.so" "$W/many/$i.so"
done
for memory in 1M 2M; do
	pages=$(LEAKWRAP_OPTIONS=exit=0:memory=$memory "$W/plugins" "$W"/many/*.so) ||
		fail "memory=$memory: status $?"
	[ "$pages" -le 1000 ] || fail "memory=$memory: $pages pages for 20,000 blocks"
done
