#!/bin/sh
# Neither an allocation nor a release waits for the loader's lock: in a plugin that a library has
# loaded, and in a release that is misuse.
. tests/lib.sh

for frame in 100 200 300 400 500; do
	build_plain "plugin$frame.so" -shared -fPIC -DFRAME=$frame tests/unwind/plugin.c
done
cat >"$W/library.c" <<'END'
#include <dlfcn.h>
void *library_load(const char *path);
void library_unload(void *handle);
void *library_load(const char *path) { return dlopen(path, RTLD_NOW); }
void library_unload(void *handle) { dlclose(handle); }
END
build_plain liblibrary.so -shared -fPIC "$W/library.c"
build loads tests/module/loader_lock.c -L"$W" -llibrary -Wl,-rpath,"$W"
LEAKWRAP_OPTIONS=misuse=abort "$W/loads" 2>"$W/misuse"
equal "a double free while the loader's lock is held: status" $? 134
grep -q double_free "$W/misuse" ||
	fail "no report: $(cat "$W/misuse")"
"$W/loads" "$W"/plugin*.so 2>"$W/log" || fail "status $?"
dump_sites "$W/log" 1 >"$W/sites"
has_find_object || skip "glibc is older than 2.35"
grep -q '^77 1 complete allocates;?;?;main;' "$W/sites" ||
	fail "through an unseen plugin: $(cat "$W/sites")"
