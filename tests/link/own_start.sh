#!/bin/sh
# A program with start code of its own, in the place of the compiler's start files, is traced.
. tests/lib.sh

case $($CC -dumpmachine) in
x86_64-*) ;;
*) skip "the start code is for x86-64" ;;
esac
cat >"$W/program.c" <<'EOF'
#include <stdio.h>
#include <stdlib.h>
#include "tests/noinline.h"
extern int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv,
                             void (*init)(void), void (*fini)(void), void (*end_loader)(void),
                             void *stack_end);
extern void begin_with(long *stack, void (*end_loader)(void));
static void *volatile kept;
static NOINLINE void leak(size_t size)
{
	kept = malloc(size);
}
static int run(int argc, char **argv, char **environment)
{
	(void)argv, (void)environment;
	leak(100);
	leak(50);
	printf("%d\n", argc);
	return 3;
}
__asm__(".globl begin\n"
        "begin: xor %ebp, %ebp\n mov %rsp, %rdi\n mov %rdx, %rsi\n"
        "and $-16, %rsp\n call begin_with\n hlt\n");
void begin_with(long *stack, void (*end_loader)(void))
{
	__libc_start_main(run, (int)*stack, (char **)(stack + 1), NULL, NULL, end_loader, stack);
}
EOF
compile="-fno-builtin -nostartfiles -Wl,-e,begin"
# shellcheck disable=SC2086 # a list of flags
build_plain plain $compile "$W/program.c"
"$W/plain" >"$W/plain.out"
equal "untraced: status" $? 3
for how in -pie -no-pie; do
	# shellcheck disable=SC2086
	build program $compile $how "$W/program.c"
	rm -f "$W/log"
	LEAKWRAP_OPTIONS=log=$W/log "$W/program" >"$W/out"
	equal "$how: status" $? 3
	cmp "$W/plain.out" "$W/out" || fail "$how: another output"
	equal "$how" "$(site_by "$W/log" 1 leak)" "150 2"
	dump_lines "$W/log" 1 | grep -q '^kinds definite_bytes=100 ' || fail "$how: kinds"
	equal "$how: complete stacks" "$(dump_value "$W/log" 1 complete_stack_bytes_percent)" 100.00
done
