#!/bin/sh
# An object is known by its functions, also if they lie in a module that a library has loaded, and
# that calls no function that is traced.
. tests/lib.sh
has_find_object || skip "the loader does not find modules without a lock"

cat >"$W/module.c" <<'END'
static int one(void) { return 1; }
static int two(void) { return 2; }
int (*const functions[])(void) = {one, two, one, two};
END
cat >"$W/loader.c" <<'END'
#include <dlfcn.h>
void *load(const char *path, const char *symbol);
void *load(const char *path, const char *symbol) { return dlsym(dlopen(path, RTLD_NOW), symbol); }
END
cat >"$W/program.c" <<'END'
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include "tests/clear_stack.h"
void *load(const char *path, const char *symbol);
static volatile uintptr_t object;
static void NOINLINE make(void *functions)
{
	void **const made = calloc(8, sizeof(*made));
	made[0] = functions;
	object = (uintptr_t)made | 1;
}
int main(int argc, char **argv)
{
	make(load(argv[argc - 1], "functions"));
	clear_stack();
	return raise(SIGUSR1);
}
END
build_plain module.so -shared -fPIC "$W/module.c"
build_plain libloader.so -shared -fPIC "$W/loader.c"
build program "$W/program.c" -L"$W" -lloader -Wl,-rpath,"$W"
LEAKWRAP_OPTIONS=kinds=always:exit=0:log=$W/log "$W/program" "$W/module.so" || fail "status $?"
equal "definitely lost" "$(dump_value "$W/log" 1 definite_blocks)" 0
equal "possibly lost" "$(dump_value "$W/log" 1 possible_blocks)" 0
