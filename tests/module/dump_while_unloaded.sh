#!/bin/sh
# A dump while a plugin is unloaded does not change the stacks through it, once it is loaded again.
#
# A library unloads the plugin and loads it again, which the tracer of the program alone does not
# see. The plugin has no unwind tables, so that the tracer reads its code.
. tests/lib.sh

cat >"$W/plugin.c" <<'END'
#define DEFINE(name)                                 \
	void name(void *(*function)(int), int size); \
	void name(void *(*function)(int), int size)  \
	{                                            \
		volatile char place[100];            \
                                                     \
		place[0] = 1;                        \
		function(size);                      \
		place[1] = place[0];                 \
	}
DEFINE(call)
DEFINE(call_again)
END
cat >"$W/loader.c" <<'END'
#include <dlfcn.h>
#include <stddef.h>
void unload(void *plugin);
void *load(const char *path);
void unload(void *plugin) { dlclose(plugin); }
void *load(const char *path) { return dlopen(path, RTLD_NOW); }
END
build_plain plugin.so -shared -fPIC -fomit-frame-pointer -fno-asynchronous-unwind-tables \
	-fno-unwind-tables "$W/plugin.c"
build_plain libloader.so -shared -fPIC "$W/loader.c"
build_program_only loads tests/module/dump_while_unloaded.c -L"$W" -lloader -Wl,-rpath,"$W"

"$W/loads" "$W/plugin.so" >"$W/out" 2>"$W/log"
status=$?
[ $status -ne 9 ] || skip "not at one address"
equal status $status 0
for n in 1 2; do
	dump_is_whole "$W/log" $n || fail "dump $n is not whole"
done
stack=$(dump_sites "$W/log" 2 | grep '^222 1 ')
case $stack in
'222 1 complete allocate;'*';main;'*) ;;
*) fail "the stack: $stack" ;;
esac
