#!/bin/sh
# The names of functions in a dump: of one with a label inside, as hand-written code has them, and in a library that was there at the
# start, however many were loaded since.
. tests/lib.sh

cat >"$W/assembly.S" <<'END'
	.globl outer
	.type outer, @function
outer:
	.cfi_startproc
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
"$W/many" "$W"/late*.so 2>"$W/log" || fail "many: status $?"
equal "call sites" "$(dump_value "$W/log" 1 call_sites)" 101
dump_sites "$W/log" 1 | grep -q '^1 1 complete allocates;[^;]*;call;main;' ||
	fail "libearly.so: $(dump_sites "$W/log" 1 | tail -n 1)"
