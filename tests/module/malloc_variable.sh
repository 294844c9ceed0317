#!/bin/sh
# A library's variable that held malloc at first does not pass the tracer by, whatever it holds now.
#
# But it does if it holds the allocator's own malloc.
. tests/lib.sh

ldd --version 2>&1 | grep -qi glibc || skip "the C library is not glibc"
cat >"$W/library.c" <<'END'
#include <stdlib.h>
static void *(*volatile maker)(size_t size) = malloc;
void library_uses(void *(*allocate)(size_t size));
void *library_makes(size_t size);
void library_uses(void *(*allocate)(size_t size)) { maker = allocate; }
void *library_makes(size_t size) { return maker(size); }
END
build_plain liblibrary.so -shared -fPIC "$W/library.c"
build changes tests/module/malloc_variable.c -L"$W" -llibrary -Wl,-rpath,"$W"

# bypasses ARGUMENT...: prints the modules that pass the tracer by.
bypasses() {
	"$W/changes" "$@" 2>"$W/log" || fail "$*: status $?"
	dump_lines "$W/log" 1 | sed -n 's/^bypass \([^ ]*\) .*\/\(.*\)/\1 \2/p'
}

equal "the program's function" "$(bypasses)" ""
equal "the C library's malloc" "$(bypasses libc.so.6)" "bound liblibrary.so"
