#!/bin/sh
# Plugins that a library loads at one address, one after another, are told apart.
#
# They have equal program headers and equal return addresses. They differ in their build-ids, and
# each is called from another place.
. tests/lib.sh

has_find_object || skip "the C library is not glibc 2.35 or later"
cat >"$W/plugin.c" <<'END'
#include <stdlib.h>
static void *volatile kept;
void *plugin_runs(void);
void *plugin_runs(void) { kept = malloc(SIZE); return (void *)&plugin_runs; }
END
cat >"$W/loader.c" <<'END'
#include <dlfcn.h>
#include <stddef.h>
void *run_plugin(const char *path);
void *run_plugin(const char *path)
{
	void *plugin = dlopen(path, RTLD_NOW), *at = NULL;
	void *(*runs)(void) = NULL;

	if (plugin)
		*(void **)&runs = dlsym(plugin, "plugin_runs");
	if (runs)
		at = runs();
	if (plugin)
		dlclose(plugin);
	return at;
}
END
for size in 100 200 300; do
	build_plain "plugin$size.so" -shared -fPIC -Wl,--build-id=sha1 -DSIZE=$size "$W/plugin.c"
done
build_plain libloader.so -shared -fPIC "$W/loader.c"
build reloads tests/module/unseen_reload.c -L"$W" -lloader -Wl,-rpath,"$W"

"$W/reloads" "$W/plugin100.so" "$W/plugin200.so" "$W/plugin300.so" >"$W/out" 2>"$W/log" ||
	fail "status $?"
[ "$(sort -u "$W/out" | wc -l)" -eq 1 ] || skip "not at one address: $(cat "$W/out")"
for size in 100 200 300; do
	equal "$size bytes" "$(dump_lines "$W/log" 1 | grep -A 1 "^site .*: $((3 * size)) bytes" |
		sed -n 's/^  #0 .* \([^ ]*\.so\)+.*/\1/p')" "plugin$size.so"
done
