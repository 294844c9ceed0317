#!/bin/sh
# Each frame names the plugin that it was in, although another plugin takes its place: also beside
# a namespace of dlmopen, and while the dump is written.
. tests/lib.sh

build swaps tests/module/swapped_plugins.c
cat >"$W/manager.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
void *manager_open_elsewhere(const char *path) { return dlmopen(LM_ID_NEWLM, path, RTLD_NOW); }
void *manager_open(const char *path) { return dlopen(path, RTLD_NOW); }
void manager_close(void *plugin) { dlclose(plugin); }
END
$CC -O1 -shared -fPIC -o "$W/manager.so" "$W/manager.c" || fail "no manager"
# The loader takes the address for which a library was linked, if it is free.
address=0x510000000000
[ "$(getconf LONG_BIT)" = 64 ] || address=0x51000000
for plugin in first second; do
	# shellcheck disable=SC2086 # a list
	$CC $CFLAGS_FOR_TESTS -shared -fPIC -Wl,--build-id=sha1 -Wl,-soname=$plugin \
		-Wl,-Ttext-segment=$address -o "$W/$plugin.so" tests/stress/plugin.c ||
		fail "cannot build $plugin"
done
echo 'void abort(void); void other(void) { abort(); }' >"$W/other.c" # it needs the C library
for other in 1 2 3 4 5 6; do
	$CC -shared -fPIC -Wl,-soname=other$other -o "$W/other$other.so" "$W/other.c" ||
		fail "no other library"
done

# plugin_of SIZE DUMP: prints the plugin in the innermost frame of the blocks of SIZE bytes.
plugin_of() {
	sed 's/^leakwrap[^ ]* //' "$2" | grep -A 1 "^site .*: $1 bytes in 1 block" |
		sed -n 's/^  #0 .* \([a-z]*\.so\)+.*/\1/p'
}

run() {
	LEAKWRAP_OPTIONS=exit=0:log=$W/log "$W/swaps" "$@" >"$W/dump" 2>"$W/addresses" ||
		fail "$1: status $?"
	equal "$1: addresses" "$(sort -u "$W/addresses" | wc -l)" 1
}

run dump "$W/first.so" "$W/second.so"
equal "during a dump" "$(plugin_of 5000 "$W/dump")" second.so
sed -n 's/.* module [0-9]* .*path=.*\/\(.*\.so\)$/\1/p' "$W/dump" | sort >"$W/modules"
for plugin in first second; do
	grep -qx $plugin.so "$W/modules" || fail "$plugin.so has no line: $(cat "$W/modules")"
done

# An old loader takes another address for the second plugin then.
has_find_object || skip "the C library is not glibc 2.35 or later"
run namespace "$W/first.so" "$W/second.so" "$W/manager.so" "$W"/other?.so
equal "beside a namespace: first" "$(plugin_of 5000 "$W/log")" first.so
equal "beside a namespace: second" "$(plugin_of 6000 "$W/log")" second.so
