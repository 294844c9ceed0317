#!/bin/sh
# audit.sh - planted escapes are found in what each linker wrote, and none in programs that are relinked as
# they should be.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh

cat >"$W/planted.c" <<'END'
#include <stdlib.h>
#include <string.h>
extern void *second_name(size_t) __asm__("__libc_malloc");
void *volatile kept;
__attribute__((noinline)) void by_second_name(void) { kept = second_name(10); }
__attribute__((noinline)) void by_calloc(void) { kept = calloc(3, 4); }
__attribute__((noinline)) void wrapped(void) { kept = malloc(3); }
int main(void) { by_second_name(); by_calloc(); wrapped(); return kept == NULL; }
END

for linker in bfd gold lld mold; do
	for static in "" -static; do
		# shellcheck disable=SC2046,SC2086 # flags
		$CC -O1 -fuse-ld=$linker $static -o "$W/clean" tests/tool/leaky.c \
			$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LLD_STATIC_LDFLAGS LEAKWRAP_LDLIBS) >"$W/ld" 2>&1 || {
			echo "left out: $linker $static: $(head -n 1 "$W/ld")"
			continue
		}
		status_is 0 "$lw" audit --strict "$W/clean"
		# shellcheck disable=SC2046,SC2086 # flags
		$CC -O1 -fuse-ld=$linker $static -o "$W/planted" "$W/planted.c" \
			$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LLD_STATIC_LDFLAGS LEAKWRAP_LDLIBS |
				sed 's/-Wl,--wrap=calloc //; s/-Wl,-u,__wrap_calloc//g') || fail "$linker $static"
		status_is 1 "$lw" audit --strict "$W/planted"
		shows '^escape: 1 direct call of calloc, in by_calloc$'
		shows 'mend: -Wl,--wrap=calloc$'
		# In a static program the second name is the same address.
		shows '^escape: 1 direct call of \(__libc_\)*malloc, in by_second_name$'
		shows_not 'wrapped$'
		status_is 0 "$lw" audit "$W/planted"
	done
done

# A reference that was resolved before the link: the file defines the function itself.
cat >"$W/own.c" <<'END'
#include <stdlib.h>
#include <string.h>
char *strdup(const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = malloc(size);
	return copy ? memcpy(copy, text, size) : NULL;
}
char *volatile kept;
int main(int argc, char **argv) { kept = strdup(argv[argc - 1]); return 0; }
END
for flags in "" -flto "-static -Wl,-z,muldefs"; do
	# shellcheck disable=SC2046,SC2086 # flags
	$CC -O1 -fno-builtin $flags -o "$W/own" "$W/own.c" $(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS) \
		2>"$W/ld" || fail "own strdup: $(cat "$W/ld")"
	status_is 1 "$lw" audit --strict "$W/own"
	shows 'direct call of strdup, in main'
done

# What makes a report say less.
build leaky tests/tool/leaky.c
strip -o "$W/stripped" "$W/leaky"
status_is 1 "$lw" audit --strict "$W/stripped"
shows '^quality: the symbol table is stripped'
# shellcheck disable=SC2046 # flags
$CC -O1 -static -o "$W/bare" tests/tool/leaky.c \
	$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS | sed 's/-Wl,--eh-frame-hdr//') -Wl,--build-id=none || fail bare
status_is 1 "$lw" audit --strict "$W/bare"
shows '^quality: there is no .eh_frame_hdr'
shows '^note: there is no build-id'
build_plain plain tests/tool/leaky.c
status_is 1 "$lw" audit --strict "$W/plain"
shows '^escape: nothing is wrapped'
if command -v ld.lld >/dev/null; then
	# shellcheck disable=SC2046 # flags
	$CC -O1 -static -fuse-ld=lld -o "$W/void" "$W/own.c" $(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS) \
		>/dev/null 2>&1 && {
		status_is 1 "$lw" audit --strict "$W/void"
		shows 'a call jumps to address 0'
	}
fi

# Other machines' files are read here.
for machine in aarch64-linux-gnu arm-linux-gnueabihf i686-linux-gnu; do
	command -v $machine-gcc >/dev/null || continue
	cat >"$W/stub.c" <<'END'
#include <stdlib.h>
extern void *__real_malloc(size_t);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size) { return __real_malloc(size); }
void leakwrap_stub(void);
void leakwrap_stub(void) {}
END
	for flags in "" "-no-pie" "-static"; do
		# shellcheck disable=SC2086 # flags
		$machine-gcc -O1 $flags -Wl,--wrap=malloc -Wl,--eh-frame-hdr -o "$W/planted" "$W/planted.c" "$W/stub.c" ||
			fail "$machine $flags"
		status_is 1 "$lw" audit --strict "$W/planted"
		shows '^escape: 1 direct call of calloc, in by_calloc$'
		shows_not 'direct call of malloc, in wrapped'
	done
done
status_is 2 "$lw" audit "$W/planted.c"
status_is 2 "$lw" audit "$W/none"
