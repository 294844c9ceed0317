#!/bin/sh
# The tracer takes little of the program's stack, thread-local storage and variables.
#
# It takes at most 256 bytes of thread-local storage and 3.1 MB of variables, all but 32 KB of which
# are tables that a program may never touch. A dump takes less than 2 KiB of the interrupted stack.
# A thread with a stack of 16 KiB works. The archive can be linked into a shared object.
. tests/lib.sh

build_plain plain tests/limits/small_footprint.c
build traced tests/limits/small_footprint.c

tls() {
	readelf -lW "$1" | awk '$1 == "TLS" { print $6; found = 1 } END { if (!found) print "0x0" }'
}
equal "thread-local storage of the plain program" "$(($(tls "$W/plain")))" 0
size=$(($(tls "$W/traced")))
[ $size -le 256 ] || fail "$size bytes of thread-local storage"

# Variables count against a bound of a program's address space, even if they are never touched.
variables() {
	size "$1" | awk 'NR == 2 { print $2 + $3 }'
}
manual_text wrap/man/leakwrap.7 >"$W/manual"
stated='^ *The runtime.s variables are \([0-9]\)\.\([0-9]\) MB of address space.*'
said=$(sed -n "s/$stated/\\1\\2/p" "$W/manual")
[ -n "$said" ] || fail "leakwrap(7) does not say how large the runtime's variables are"
more=$(($(variables "$W/traced") - $(variables "$W/plain")))
[ $more -le $((said * 100000)) ] || fail "the runtime's variables are $more bytes"

# The variables that nearly every program uses lie together, apart from the tables.
bss() {
	readelf -SW "$1" | sed -n 's/.* \.bss  *NOBITS  *[^ ]* *[^ ]* *\([^ ]*\) .*/0x\1/p'
}
more=$(($(bss "$W/traced") - $(bss "$W/plain")))
{ [ $more -gt 0 ] && [ $more -le 32768 ]; } || fail "$more bytes of variables beside the tables"

"$W/traced" >"$W/traced.out" 2>"$W/log" || fail "status $?"
equal "dumps" "$(dumps "$W/log" | wc -l)" 3
equal "in the small thread" "$(site_by "$W/log" 1 in_small_room)" "77 1"
handler=$("$W/plain" handler) || fail "status $?"
dump=$(cat "$W/traced.out")
[ $((dump - handler)) -lt 2048 ] || fail "a dump takes $((dump - handler)) bytes of the stack"
[ "$dump" -gt "$handler" ] || fail "nothing was measured: $dump, $handler"
echo "thread-local storage $size bytes, stack $((dump - handler)) bytes"

# A shared object holds the runtime. The program knows nothing of the tracer.
cat >"$W/object.c" <<'END'
#include <stdlib.h>
static void *volatile kept;
void in_the_object(void);
void in_the_object(void) { kept = malloc(99); }
END
cat >"$W/host.c" <<'END'
#include <dlfcn.h>
#include <signal.h>
int main(int argc, char **argv)
{
	void *object = dlopen(argv[argc - 1], RTLD_NOW);
	void (*call)(void) = object ? (void (*)(void))dlsym(object, "in_the_object") : 0;

	if (!call)
		return 1;
	call();
	return raise(SIGUSR1);
}
END
build object.so -shared -fPIC "$W/object.c"
build_plain host "$W/host.c"
"$W/host" "$W/object.so" 2>"$W/object.log" || fail "the program with a traced object: status $?"
equal "the reason" "$(dump_value "$W/object.log" 1 reason)" signal
equal "in the shared object" "$(dump_value "$W/object.log" 1 live_bytes)" 99
