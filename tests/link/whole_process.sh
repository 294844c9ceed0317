#!/bin/sh
# A dynamic program traces what its shared libraries allocate, and says which modules bypass it.
#
# This holds for a program whose own objects never allocate, for libraries that are loaded later or
# by other libraries, and with an allocator that the program or its environment brings.
. tests/lib.sh

cat >"$W/library.c" <<'END'
#include <stdlib.h>
#include <string.h>
static void *volatile kept[4];
void library_keeps(void);
void *library_makes(size_t size);
void library_frees(void *block);
/* The exit dump comes behind the destructor. */
static void *volatile early;
__attribute__((constructor)) static void begins(void) { early = malloc(5000); }
__attribute__((destructor)) static void ends(void) { free(early); }
void library_keeps(void)
{
	kept[0] = malloc(1000);
	kept[1] = calloc(10, 30);
	kept[2] = realloc(kept[1], 700);
	kept[3] = strdup("four");
	free(aligned_alloc(64, 640));
	if (posix_memalign((void **)&kept[1], 64, 128) != 0)
		abort();
}
void *library_makes(size_t size) { return malloc(size); }
void library_frees(void *block) { free(block); }
END
cat >"$W/silent.c" <<'END'
void library_keeps(void);
int main(void) { library_keeps(); return 0; }
END
cat >"$W/loads.c" <<'END'
#include <dlfcn.h>
#include <stddef.h>
int load(const char *path, int mode);
int load(const char *path, int mode)
{
	void (*keeps)(void) = NULL;
	void *handle = dlopen(path, mode);
	if (handle)
		*(void **)&keeps = dlsym(handle, "library_keeps");
	if (keeps)
		keeps();
	return keeps == NULL;
}
END
cat >"$W/user.c" <<'END'
#include <dlfcn.h>
#include <stdlib.h>
int load(const char *path, int mode);
int main(int argc, char **argv)
{
	(void)argc;
	if (argv[1][0] == 'm')
		return dlmopen(LM_ID_NEWLM, argv[2], RTLD_NOW) == NULL;
	return load(argv[2], argv[1][0] == 'n'   ? RTLD_NOW
	                     : argv[1][0] == 'l' ? RTLD_LAZY
	                                         : RTLD_LAZY | RTLD_DEEPBIND);
}
END
cat >"$W/between.c" <<'END'
#include <stdlib.h>
void *library_makes(size_t size);
void library_frees(void *block);
int main(void)
{
	for (int i = 0; i < 10; i++) {
		library_frees(malloc(100));
		free(library_makes(100));
		void *block = realloc(library_makes(10), 3000);
		library_frees(block);
	}
	return 0;
}
END
build_plain liblibrary.so -shared -fPIC "$W/library.c"
build_plain plugin.so -shared -fPIC "$W/library.c"
build_plain libloads.so -shared -fPIC "$W/loads.c"

# coverage LOG: prints the lines that say what is covered.
coverage() {
	dump_lines "$1" 1 | grep '^coverage\|^bypass' | sed 's|path=.*/|path=|' | tr '\n' ';'
}

# held LOG: prints the bytes and blocks that library_keeps holds, and the origins of its call sites.
held() {
	site_through "$1" 1 library_keeps
	dump_lines "$1" 1 | sed -n 's/^site .*\(origin=[^ ]*\).*/\1/p' | sort | uniq -c |
		sed -n 's/^ *\([0-9]*\) \(origin=library\)/\1 \2/p'
}
kept='1833 4
4 origin=library'

for flags in "" "-no-pie -fno-pie" "-Wl,-z,now" "-Wl,-z,lazy"; do
	# shellcheck disable=SC2086 # a list of flags
	build silent $flags "$W/silent.c" -L"$W" -llibrary -Wl,-rpath,"$W"
	"$W/silent" 2>"$W/log" || fail "silent $flags: status $?"
	equal "silent $flags" "$(held "$W/log")" "$kept"
	equal "silent $flags: freed by a destructor" "$(site_through "$W/log" 1 begins)" "0 0"
	equal "silent $flags: live" "$(dump_value "$W/log" 1 live_bytes)" 1833
	equal "silent $flags: coverage" "$(coverage "$W/log")" "coverage process;"
	equal "silent $flags: loss" "$(dump_lines "$W/log" 1 | sed -n 's/^loss //p')" "$none_lost"
done
LEAKWRAP_OPTIONS=libraries=0 "$W/silent" 2>"$W/log" || fail "libraries=0: status $?"
equal "libraries=0" "$(held "$W/log")" "0 0"
equal "libraries=0: coverage" "$(coverage "$W/log")" "coverage program;"
for name in jemalloc tcmalloc_minimal; do
	preloaded=$($CC -print-file-name=lib$name.so)
	[ -e "$preloaded" ] || continue
	LD_PRELOAD=$preloaded "$W/silent" 2>"$W/log" || fail "$name: status $?"
	case $(held "$W/log") in "$kept"*) ;; *) fail "$name: $(held "$W/log")" ;; esac
done

# Blocks go from the program to the library and back.
build between "$W/between.c" -L"$W" -llibrary -Wl,-rpath,"$W"
for options in libraries=1 libraries=1:misuse=abort; do
	LEAKWRAP_OPTIONS=$options "$W/between" 2>"$W/log" || fail "$options: status $?"
	equal "$options" "$(dump_value "$W/log" 1 live_blocks)" 0
	equal "$options: loss" "$(dump_lines "$W/log" 1 | sed -n 's/^loss //p')" "$none_lost"
done
# Only the records of the program's blocks are there, and the library's frees remove them.
LEAKWRAP_OPTIONS=libraries=0 "$W/between" 2>"$W/log" || fail "between: status $?"
equal "between, libraries=0" "$(dump_value "$W/log" 1 live_blocks)" 0
equal "between, libraries=0: frees" "$(dump_value "$W/log" 1 foreign_frees)" 20
build_program_only only "$W/silent.c" -L"$W" -llibrary -Wl,-rpath,"$W"
"$W/only" 2>"$W/log" || fail "program only: status $?"
equal "program only" "$(held "$W/log") $(coverage "$W/log")" "0 0 coverage program;"

# Libraries that the program or another library loads: their stacks are complete. An old glibc does
# not tell what another library loads.
build direct "$W/user.c" "$W/loads.c"
build indirect "$W/user.c" -L"$W" -lloads -Wl,-rpath,"$W"
loading=direct
! has_find_object || loading="direct indirect"
for program in $loading; do
	for mode in now lazy; do
		"$W/$program" $mode "$W/plugin.so" 2>"$W/log" || fail "$program $mode: status $?"
		equal "$program $mode: coverage" "$(coverage "$W/log")" "coverage process;"
		equal "$program $mode: stacks" \
			"$(dump_value "$W/log" 1 complete_stack_bytes_percent)" 100.00
		grep -q '#0 .* plugin.so+0x' "$W/log" || fail "$program $mode: not in plugin.so"
	done
done
if ldd --version 2>&1 | grep -qi glibc; then
	"$W/direct" deep "$W/plugin.so" 2>"$W/log" || fail "deepbind: status $?"
	equal "deepbind" "$(coverage "$W/log")" "coverage process;bypass bound path=plugin.so;"
	"$W/direct" m "$W/plugin.so" 2>"$W/log" || fail "dlmopen: status $?"
	equal "dlmopen" "$(coverage "$W/log")" "coverage process;bypass namespace path=?;"
fi

# A library that calls __libc_malloc by name.
cat >"$W/named.c" <<'END'
#include <stddef.h>
void *__libc_malloc(size_t size);
void library_keeps(void);
static void *volatile kept;
void library_keeps(void) { kept = __libc_malloc(10); }
END
build_plain libnamed.so -shared -fPIC "$W/named.c"
build named "$W/silent.c" -L"$W" -lnamed -Wl,-rpath,"$W"
"$W/named" 2>"$W/log" || fail "named: status $?"
equal "named" "$(coverage "$W/log")" "coverage process;bypass libc_name path=libnamed.so;"

# The program brings its own malloc: libraries call that.
cat >"$W/own.c" <<'END'
#include <stddef.h>
void *__libc_malloc(size_t size);
void __libc_free(void *block);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *malloc(size_t size) { return __libc_malloc(size); }
void free(void *block) { __libc_free(block); }
void *calloc(size_t count, size_t size) { return __libc_calloc(count, size); }
void *realloc(void *block, size_t size) { return __libc_realloc(block, size); }
END
$CC -O2 -c -o "$W/own.o" "$W/own.c" || fail "cannot compile own.c"
ar rcs "$W/libown.a" "$W/own.o" || fail "no libown.a"
build own "$W/between.c" "$W/libown.a" -L"$W" -llibrary -Wl,-rpath,"$W"
"$W/own" 2>"$W/log" || fail "own: status $?"
equal "own: coverage" "$(coverage "$W/log")" "coverage program;"

# In a shared object with the same flags, the object's calls alone are recorded.
build libobject.so -shared -fPIC "$W/library.c"
cat >"$W/main.c" <<'END'
#include <stdlib.h>
void library_keeps(void);
static void *volatile kept;
int main(void) { library_keeps(); kept = malloc(99); return 0; }
END
build_plain with_object "$W/main.c" -L"$W" -lobject -Wl,-rpath,"$W"
"$W/with_object" 2>"$W/log" || fail "shared object: status $?"
equal "shared object" "$(site_through "$W/log" 1 main)" "1833 4"
equal "shared object: coverage" "$(coverage "$W/log")" "coverage program;"
