#!/bin/sh
# A dump names functions right in the cases that are easily got wrong.
#
# A function of hand-written code has a label inside. A library was there at the start, and many
# were loaded since. A hundred libraries were there at the start. The program's file could not be
# opened for an earlier dump.
. tests/lib.sh

cat >"$W/assembly.S" <<'END'
	.globl outer
	.type outer, @function
outer:
	.cfi_startproc
#ifdef __x86_64__
	sub $8, %rsp
	.cfi_adjust_cfa_offset 8
	.globl label
	.type label, @function
label:
	mov $50, %edi
	call malloc
	add $8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
#elif defined __i386__
	sub $8, %esp
	.cfi_adjust_cfa_offset 8
	.globl label
	.type label, @function
label:
	push $50
	.cfi_adjust_cfa_offset 4
	call malloc
	add $12, %esp
	.cfi_adjust_cfa_offset -12
	ret
#elif defined __aarch64__
	stp x29, x30, [sp, #-16]!
	.cfi_adjust_cfa_offset 16
	.cfi_offset x30, -8
	.globl label
	.type label, @function
label:
	mov w0, #50
	bl malloc
	ldp x29, x30, [sp], #16
	.cfi_adjust_cfa_offset -16
	ret
#endif
	.cfi_endproc
	.size outer, . - outer
	.section .note.GNU-stack, "", @progbits
END
cat >"$W/label.c" <<'END'
void *outer(void);
static void *volatile kept;
int main(void) { kept = outer(); return 0; }
END
build label "$W/label.c" "$W/assembly.S"
"$W/label" 2>"$W/log" || fail "label: status $?"
equal "by outer" "$(site_by "$W/log" 1 outer)" "50 1"

cat >"$W/many.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
void call(void (*function)(void));
static void *volatile kept;
static size_t size;
static void allocates(void) { kept = malloc(size); }
int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		void *plugin = dlopen(argv[i], RTLD_NOW);
		void (*through)(void (*)(void)) = NULL;
		if (plugin)
			*(void **)&through = dlsym(plugin, "call");
		if (!through)
			return 1;
		size = (size_t)(1000 + i);
		through(allocates);
	}
	size = 1;
	call(allocates);
	return 0;
}
END
build_plain libearly.so -shared -fPIC tests/unwind/plugin.c
build many "$W/many.c" -L"$W" -learly -Wl,-rpath,"$W"
for number in $(seq 100); do
	cp "$W/libearly.so" "$W/late$number.so"
done
LEAKWRAP_OPTIONS=libraries=0 "$W/many" "$W"/late*.so 2>"$W/log" || fail "many: status $?"
equal "call sites" "$(dump_value "$W/log" 1 call_sites)" 101
dump_sites "$W/log" 1 | grep -q '^1 1 complete allocates;[^;]*;call;main;' ||
	fail "libearly.so: $(dump_sites "$W/log" 1 | tail -n 1)"

linked=
for number in $(seq 100); do
	cp "$W/libearly.so" "$W/liblinked$number.so"
	linked="$linked -llinked$number"
done
# shellcheck disable=SC2086 # a list
build hundred "$W/many.c" -L"$W" -Wl,--no-as-needed -learly $linked -Wl,-rpath,"$W"
LEAKWRAP_OPTIONS=libraries=0 "$W/hundred" "$W"/liblinked*.so 2>"$W/log" ||
	fail "hundred: status $?"
equal "functions of a hundred libraries" \
	"$(dump_sites "$W/log" 1 | grep -c ' complete allocates;[^;]*;call;main;')" 101

cat >"$W/closed.c" <<'END'
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
static void *volatile kept;
__attribute__((noinline)) static void hold(void)
{
	kept = malloc(61);
	__asm__ volatile("");
}
int main(void)
{
	struct rlimit none = {3, 64}, some = {64, 64};

	hold();
	setrlimit(RLIMIT_NOFILE, &none);
	raise(SIGUSR1);
	setrlimit(RLIMIT_NOFILE, &some);
	raise(SIGUSR1);
	return 0;
}
END
build closed "$W/closed.c"
LEAKWRAP_OPTIONS=exit=0 "$W/closed" 2>"$W/log" 3>&- || fail "closed: status $?"
equal "without a descriptor" "$(site_by "$W/log" 1 hold)" "0 0"
equal "with one" "$(site_by "$W/log" 2 hold)" "61 1"
