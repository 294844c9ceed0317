#!/bin/sh
# Blocks of an unloaded plugin are not counted as blocks of the plugin that took its place.
#
# This also holds if all addresses are the same.
. tests/lib.sh

cat >"$W/replaced.c" <<'END'
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
static void *volatile kept;
static void allocates(void) { kept = malloc(77); }
int main(int argc, char **argv)
{
	for (int i = 0; i < 30; i++) {
		void *plugin = dlopen(argv[1 + i % (argc - 1)], RTLD_NOW);
		void (*call)(void (*)(void)) = NULL;

		if (plugin)
			*(void **)&call = dlsym(plugin, "call");
		if (!call)
			return 1;
		printf("%p\n", (void *)(uintptr_t)call);
		call(allocates);
		dlclose(plugin);
	}
	return 0;
}
END
for name in one two three; do
	build_plain $name.so -shared -fPIC -DFRAME=100 tests/unwind/plugin.c
done
build replaced "$W/replaced.c"
for unwind in auto fp; do
	LEAKWRAP_OPTIONS=unwind=$unwind "$W/replaced" "$W/one.so" "$W/two.so" "$W/three.so" \
		>"$W/places" 2>"$W/log" || fail "status $?"
	[ "$(sort -u "$W/places" | wc -l)" = 1 ] || skip "the plugins do not take the same place"
	equal "$unwind: call sites of the program" \
		"$(dump_lines "$W/log" 1 | grep '^site ' | grep -vc ' origin=')" 3
	for name in one two three; do
		equal "$unwind: through $name" \
			"$(dump_lines "$W/log" 1 | grep -A 3 '^site .: 770 bytes in 10 blocks' |
				grep -c "$name.so+")" 2
		dump_lines "$W/log" 1 | grep -q "^module .*/$name.so$" ||
			fail "$unwind: $name.so is not listed"
	done
done
