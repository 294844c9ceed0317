#!/bin/sh
# Whichever of the tracer's mappings fail, a dump names its program, or says that it is not known.
#
# It never gives another module's name. Without /proc it says how the program was started.
. tests/lib.sh

# Fails the tracer's mmap.
cat >"$W/fail.c" <<'EOF'
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#ifdef SYS_mmap2
#undef SYS_mmap
#define SYS_mmap SYS_mmap2
#endif
long __real_leakwrap_call_kernel(long number, long a, long b, long c, long d, long e, long f);
long __wrap_leakwrap_call_kernel(long number, long a, long b, long c, long d, long e, long f);
long __wrap_leakwrap_call_kernel(long number, long a, long b, long c, long d, long e, long f)
{
	static int calls;
	const char *fails = getenv("FAILS"), *count = getenv("COUNT");
	int first = fails ? atoi(fails) : 0;
	calls += number == SYS_mmap;
	if (number == SYS_mmap && calls >= first && calls < first + (count ? atoi(count) : 0))
		return -ENOMEM;
	return __real_leakwrap_call_kernel(number, a, b, c, d, e, f);
}
EOF
build named tests/link/puts.c "$W/fail.c" -Wl,--wrap=leakwrap_call_kernel
known=0
for turn in $(seq 0 47); do
	n=$((turn / 4 + 1))
	COUNT=$((turn % 4 + 1)) FAILS=$n "$W/named" >"$W/out" 2>"$W/log"
	program=$(dump_value "$W/log" 1 program)
	case $program in
	"$W/named") known=$((known + 1)) ;;
	'') ;;
	*) fail "mapping $n: program=$program" ;;
	esac
	module=$(dump_lines "$W/log" 1 | sed -n 's/^module 1 .* path=//p')
	case $module in "$W/named" | '') ;; *) fail "mapping $n: module 1 is $module" ;; esac
done
[ $known -gt 15 ] || fail "the program was known $known times only"
[ $known -lt 48 ] || fail "no mapping failed"

chroot / true 2>"$W/which" || skip "chroot needs root"
mkdir "$W/jail"
build jail/named -static tests/link/leaks.c
chroot "$W/jail" /named 2>"$W/log" >"$W/out"
equal "without /proc: status" $? 5
equal "without /proc: the program" "$(dump_value "$W/log" 1 program)" /named
equal "without /proc: module 1" "$(dump_lines "$W/log" 1 | sed -n 's/^module 1 .* path=//p')" /named
dump_lines "$W/log" 1 | grep -q '^  #0 .* \[1\] named+0x' ||
	fail "without /proc: frames without a name: $(cat "$W/log")"
