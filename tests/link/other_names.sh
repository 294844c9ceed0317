#!/bin/sh
# What a shared library allocates by an allocator's other names is not seen: the dump and the audit
# name the library. The audit says how to wrap the functions where the program itself calls them.
. tests/lib.sh

library=$($CC -print-file-name=libjemalloc.so)
[ -e "$library" ] || skip "libjemalloc.so is not installed"
cat >"$W/library.c" <<'END'
#include <stddef.h>
void *mallocx(size_t size, int flags);
void *library_makes(size_t size);
void *library_makes(size_t size) { return mallocx(size, 0); }
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
"$O/leakwrap" audit "$W/program" >"$W/out" || fail "audit: status $?"
grep -q 'libmakes.so: calls of __libc_malloc or mallocx by name' "$W/out" ||
	fail "audit: $(cat "$W/out")"

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
"$O/leakwrap" audit "$W/caller" >"$W/out" || fail "audit: status $?"
allocator=$(sed -n "s/.*'--allocator=\(malloc=mallocx.*\)' .*/\1/p" "$W/out")
LEAKWRAP_LIB=$O/libleakwrap.a "$O/leakwrap" cc --allocator="$allocator" -- \
	"$CC" -g -o "$W/caller" "$W/caller.c" -ljemalloc || fail "the advice does not link"
rm "$W/log"
LEAKWRAP_OPTIONS=log=$W/log "$W/caller" || fail "status $?"
equal "foreign frees" "$(dump_value "$W/log" 1 foreign_frees)" 0
equal "blocks" "$(dump_lines "$W/log" 1 | grep -c '#0.* main')" 0
