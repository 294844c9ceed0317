#!/bin/sh
# A plugin that is loaded again at another address is one module, and fits frames at both places.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh

cat >"$W/reloaded.c" <<'END'
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/mman.h>
static void *volatile kept;
static void allocates(void) { kept = malloc(77); }
int main(int argc, char **argv)
{
	for (int i = 0; i < 2 && argc == 2; i++) {
		void *plugin = dlopen(argv[1], RTLD_NOW);
		void (*call)(void (*)(void)) = NULL;
		if (plugin)
			call = (void (*)(void (*)(void)))dlsym(plugin, "call");
		if (!call)
			return 1;
		call(allocates);
		dlclose(plugin);
		if (mmap((char *)((size_t)call & ~(size_t)4095), 4096, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED)
			return 2;
	}
	return 0;
}
END
build_plain plugin.so -shared -fPIC -g tests/unwind/plugin.c
build reloaded "$W/reloaded.c"
LEAKWRAP_OPTIONS=log="$W/log" "$W/reloaded" "$W/plugin.so" || fail "status $?"
equal "places" "$(dump_lines "$W/log" 1 | grep -c '^module .*/plugin.so$')" 2
status_is 0 "$lw" report "$W/log"
shows_not damaged
shows_not truncated
shows 'through  *.*/plugin.c:'
need jq
status_is 0 "$lw" report --format=json "$W/log"
jq -r '.dumps[0].call_sites[].frames[] | select(.function == "through") | .address' "$W/out" \
	>"$W/addresses" || fail "the report is no JSON"
dump_lines "$W/log" 1 | awk '/plugin.so\+/ && !(n++ % 2) { print $2 }' >"$W/raw"
cmp "$W/addresses" "$W/raw" || fail "addresses: $(cat "$W/addresses"), in the dump: $(cat "$W/raw")"
