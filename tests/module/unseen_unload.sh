#!/bin/sh
# A library that untraced code unloads is gone for the tracer, too.
#
# Neither a dump nor a walk reads where it lay, even if it was in the module list. This holds with
# the runtime in the program or in a shared object.
. tests/lib.sh

cat >"$W/plugin.c" <<'END'
void plugin_calls(void (*function)(void));
void plugin_calls(void (*function)(void)) { function(); __asm__ volatile(""); }
#ifdef LARGE
__asm__(".text\n.space 65536, 0x90\n");
#endif
END
cat >"$W/loader.c" <<'END'
#include <dlfcn.h>
#include <stddef.h>
void *load(const char *path);
int unload(void *handle);
void *load(const char *path) { return dlopen(path, RTLD_NOW); }
int unload(void *handle) { return dlclose(handle); }
END
cat >"$W/object.c" <<'END'
#include <stdlib.h>
static void *volatile kept;
void allocates(void);
void allocates(void) { kept = malloc(77); __asm__ volatile(""); }
END
for plugin in 0 1 2 3 4 5 6 7 8 9; do
	build_plain "plugin$plugin.so" -shared -fPIC "$W/plugin.c"
done
build_plain large.so -shared -fPIC -DLARGE "$W/plugin.c"
build_plain libloader.so -shared -fPIC "$W/loader.c"
build object.so -shared -fPIC "$W/object.c"
build_program_only in_program -rdynamic tests/module/unseen_unload.c "$W/object.c" -L"$W" -lloader \
	-Wl,-rpath,"$W"
build_plain in_object tests/module/unseen_unload.c -L"$W" -lloader -Wl,-rpath,"$W"

# check PROGRAM SITES: the stack through the plugin that the tracer did not see is truncated.
check() {
	"$W/$1" "$W" "$W/object.so" >"$W/out" 2>"$W/log" || fail "$1: status $?"
	equal "$1: takes its place" "$(cat "$W/out")" yes
	equal "$1: dumps" "$(dumps "$W/log" | wc -l)" 3
	equal "$1: call sites" "$(dump_sites "$W/log" 3 | sed 's/;?.*//')" "77 1 complete allocates
77 1 truncated allocates;"
}

check in_program
check in_object
