#!/bin/sh
# What a shared library allocates by an allocator's other names is not seen: the dump and the audit
# name the library. The audit says how to wrap the functions. The program exports them where a
# shared library calls them, which may be one that only another library needs.
. tests/lib.sh

library=$($CC -print-file-name=libjemalloc.so)
[ -e "$library" ] || skip "libjemalloc.so is not installed"
cat >"$W/library.c" <<'END'
#include <stddef.h>
void *mallocx(size_t size, int flags);
void *rallocx(void *block, size_t size, int flags);
void dallocx(void *block, int flags);
int mallctl(const char *name, void *old, size_t *old_size, void *new, size_t new_size);
void *library_makes(size_t size);
void *library_makes(size_t size)
{
	const char *version;
	size_t length = sizeof(version);
	if (mallctl("version", &version, &length, NULL, 0) != 0)
		return NULL;
	dallocx(mallocx(50, 0), 0);
	return rallocx(mallocx(10, 0), size, 0);
}
END
cat >"$W/other.c" <<'END'
#include <stddef.h>
#include <malloc.h>
size_t library_asks(void *block);
size_t library_asks(void *block) { return malloc_usable_size(block); }
END
cat >"$W/program.c" <<'END'
#include <stddef.h>
void *library_makes(size_t size);
size_t library_asks(void *block);
int main(void)
{
	void *volatile block = library_makes(100);
	return library_asks(block) < 100;
}
END
build_plain libmakes.so -shared -fPIC "$W/library.c" -ljemalloc
build_plain libasks.so -shared -fPIC "$W/other.c" -ljemalloc
build program "$W/program.c" -L"$W" -lmakes -lasks -Wl,--no-as-needed -ljemalloc -Wl,-rpath,"$W"
LEAKWRAP_OPTIONS=log=$W/log "$W/program" || fail "status $?"
bypasses=$(dump_lines "$W/log" 1 | sed -n 's/^bypass \([^ ]*\) .*\/\(.*\)/\1 \2/p' |
	grep -v libstdc++)
equal "bypasses" "$bypasses" "other_name libmakes.so"
"$O/leakwrap" report "$W/log" >"$W/out" || fail "report: status $?"
grep -q 'not covered: .*/libmakes.so (it allocates by other names than malloc' "$W/out" ||
	fail "report: $(cat "$W/out")"
export LEAKWRAP_LIB="$O/libleakwrap.a"

# advise PROGRAM PATTERN: sets allocator to what the audit advises for an escape that has PATTERN.
advise() {
	"$O/leakwrap" audit "$1" >"$W/out" || fail "audit: status $?"
	grep -q "^escape: $2\$" "$W/out" || fail "audit: $(cat "$W/out")"
	allocator=$(sed -n "s/.*--allocator='\([^']*\)'.*/\1/p" "$W/out")
}

# link_exported PROGRAM WORD...: links PROGRAM with the advice.
link_exported() {
	name=$1
	shift
	"$O/leakwrap" cc --allocator="$allocator" -- "$CC" -O1 -fno-builtin -o "$W/$name" \
		"$W/program.c" -L"$W" "$@" -Wl,-rpath,"$W" || fail "$*: does not link"
}

advise "$W/program" 'mallocx of libjemalloc.*, which libmakes.so calls, is not exported'
cat >"$W/between.c" <<'END'
#include <stddef.h>
void *library_makes(size_t size);
size_t library_asks(void *block);
size_t library_asks(void *block) { return block ? 100 : (size_t)library_makes(100); }
END
build_plain libbetween.so -shared -fPIC "$W/between.c" -L"$W" -lmakes -Wl,-rpath,"$W"
for linker in bfd gold lld mold; do
	command -v "ld.$linker" >"$W/which" 2>&1 || continue
	for libraries in "-lmakes -lasks -ljemalloc" \
		"-Wl,--as-needed -lbetween -lmakes"; do
		# shellcheck disable=SC2086 # words
		link_exported program -fuse-ld=$linker $libraries
		rm "$W/log"
		LEAKWRAP_OPTIONS=log=$W/log "$W/program" || fail "$linker: status $?"
		equal "$linker: blocks" "$(site_by "$W/log" 1 library_makes)" "100 1"
		equal "$linker: foreign frees" "$(dump_value "$W/log" 1 foreign_frees)" 0
		equal "$linker: bypasses" "$(dump_lines "$W/log" 1 | grep -c 'bypass other')" 0
		"$O/leakwrap" audit --strict "$W/program" >"$W/out" || fail "$(cat "$W/out")"
	done
done
rm "$W/log"
LEAKWRAP_OPTIONS=log=$W/log:libraries=0 "$W/program" || fail "libraries=0: status $?"
equal "libraries=0" "$(site_by "$W/log" 1 library_makes)" "0 0"

# One line says that there is no original.
echo 'void *no_such(unsigned long size); int main(void) { return !no_such(1); }' >"$W/program.c"
allocator=exported:malloc=no_such
link_exported missing
"$W/missing" 2>"$W/out" && fail "no_such was found"
equal "missing" "$(grep -c '^leakwrap: no shared library of this program has no_such' "$W/out")" 1

# The same link for a static program: its archive has the original.
echo 'static char block[8]; void *no_such(unsigned long size) { return size > 8 ? 0 : block; }' \
	>"$W/pool.c"
$CC -c -o "$W/pool.o" "$W/pool.c" || fail "cannot compile"
ar rcs "$W/libpool.a" "$W/pool.o" || fail "no archive"
for linker in bfd gold lld mold; do
	command -v "ld.$linker" >"$W/which" 2>&1 || continue
	link_exported static -static -fuse-ld=$linker -lpool
	rm -f "$W/log"
	LEAKWRAP_OPTIONS=log=$W/log "$W/static" || fail "static, $linker: status $?"
	equal "static, $linker" "$(dump_lines "$W/log" 1 | grep -c '^site .*: 1 bytes in 1 ')" 1
done

# -- the program's own calls

cat >"$W/caller.c" <<'END'
#include <stddef.h>
void *mallocx(size_t size, int flags);
void *rallocx(void *block, size_t size, int flags);
void dallocx(void *block, int flags), sdallocx(void *block, size_t size, int flags);
int main(void)
{
	dallocx(rallocx(mallocx(100, 0), 100000, 0), 0);
	sdallocx(mallocx(100, 0), 100, 0);
	return 0;
}
END
build caller "$W/caller.c" -ljemalloc
advise "$W/caller" 'mallocx of libjemalloc.* is not wrapped'
"$O/leakwrap" cc --allocator="$allocator" -- \
	"$CC" -g -o "$W/caller" "$W/caller.c" -ljemalloc || fail "the advice does not link"
rm "$W/log"
LEAKWRAP_OPTIONS=log=$W/log "$W/caller" || fail "status $?"
equal "foreign frees" "$(dump_value "$W/log" 1 foreign_frees)" 0
equal "blocks" "$(dump_lines "$W/log" 1 | grep -c '#0.* main')" 0
