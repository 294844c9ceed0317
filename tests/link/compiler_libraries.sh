#!/bin/sh
# The compiler adds libraries behind the runtime that no one named: for profiles and sanitizers.
#
# They may be the only ones that need a wrapper. The program must link and run, its profile must be
# written, and a sanitizer must still find an error.
# timeout: 300
. tests/lib.sh

cat >"$W/leaky.c" <<'END'
#include <stdlib.h>
#include <string.h>
#include <signal.h>
void *volatile kept;
__attribute__((noinline)) static void leak(void)
{
	kept = malloc(77);
	__asm__ volatile("");
}
int main(int count, char **words)
{
	char *copy = strdup(words[0]);

	leak();
	raise(SIGUSR1);
	free(copy);
	if (count > 1)
		((char *)kept)[76 + count] = words[1][0]; /* behind the block */
	return 3;
}
END

# check NAME: the program dumps its leak for the signal and at exit, and ends as untraced.
check() {
	rm -f "$W/log"
	LEAKWRAP_OPTIONS=log=$W/log "$W/leaky" >"$W/out" 2>&1
	equal "$1: exit status" $? 3
	equal "$1: output" "$(cat "$W/out")" ""
	equal "$1: leak for the signal" "$(site_by "$W/log" 1 leak)" "77 1"
	equal "$1: leak at exit" "$(site_by "$W/log" 2 leak)" "77 1"
}

# Compilers write profiles into the folder in which they run.
wraps=$(leakwrap_flags LEAKWRAP_LDFLAGS) weak=$(leakwrap_flags LEAKWRAP_LLD_LDFLAGS)
libraries=$(leakwrap_flags LEAKWRAP_LDLIBS)
program_libraries=$(leakwrap_flags LEAKWRAP_PROGRAM_LDLIBS)
cd "$W" || exit 2

for linker in bfd gold lld mold; do
	command -v ld.$linker >which 2>&1 || {
		echo "left out: no ld.$linker"
		continue
	}
	for static in '' -static; do
		name="$linker --coverage $static"
		[ "$linker$static" = lld-static ] && more=$weak || more=
		rm -f ./*.gcda
		# shellcheck disable=SC2086 # lists of flags
		$CC -O1 -g --coverage $static -fuse-ld=$linker -o leaky leaky.c \
			$wraps $more $libraries -pthread 2>errors ||
			fail "$name: does not link: $(tail -n 5 errors)"
		check "$name"
		set -- ./*.gcda
		[ -e "$1" ] || fail "$name: no profile"
	done
done

# Both threads allocate by the same functions.
cat >threads.c <<'END'
#include <pthread.h>
#include <stdlib.h>
static __thread void *volatile block;
static __attribute__((noinline)) int allocate(int depth)
{
	block = malloc(10);
	free(block);
	return depth > 0 ? allocate(depth - 1) + (block != NULL) : 0;
}
static void *work(void *unused)
{
	(void)unused;
	for (int i = 0; i < 20; i++)
		allocate(20);
	return NULL;
}
int main(void)
{
	pthread_t thread[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, work, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
END
export ASAN_OPTIONS=detect_leaks=0 LSAN_OPTIONS=detect_leaks=0
for sanitizer in address thread undefined leak memory; do
	echo 'int main(void) { return 0; }' >plain.c
	if ! $CC -fsanitize=$sanitizer -o plain plain.c 2>errors || ! ./plain 2>errors; then
		echo "left out: $sanitizer: $(tail -n 1 errors)"
		continue
	fi
	# shellcheck disable=SC2086 # lists of flags
	$CC -O1 -g -fsanitize=$sanitizer -o leaky leaky.c $wraps $program_libraries -pthread \
		2>errors || fail "$sanitizer: does not link: $(tail -n 5 errors)"
	check $sanitizer
	case $sanitizer in
	thread)
		# shellcheck disable=SC2086 # lists of flags
		$CC -O1 -g -fsanitize=thread -o threads threads.c $wraps $program_libraries \
			-pthread 2>errors || fail "threads: $(tail -n 5 errors)"
		echo race:leakwrap_ >suppressions
		TSAN_OPTIONS=suppressions=suppressions LEAKWRAP_OPTIONS=log=$W/threads.log \
			./threads >out 2>&1 || fail "threads: status $?: $(head -n 20 out)"
		continue
		;;
	address) ;;
	*) continue ;;
	esac
	! LEAKWRAP_OPTIONS=log=$W/log ./leaky x >out 2>&1 || fail "no error behind the block"
	grep -q heap-buffer-overflow out || fail "another error: $(cat out)"
done

# With -fsplit-stack only libgcc, which stands behind the runtime, calls mprotect and syscall. gold
# and lld give the tracer's functions enough of the stack. bfd does not.
cat >deep.c <<'END'
#include <stdlib.h>
#include <string.h>
void *volatile kept;
__attribute__((noinline)) int down(int n)
{
	char buffer[300];

	memset(buffer, 0, sizeof buffer);
	__asm__ volatile("" : : "r"(buffer) : "memory");
	if (n == 0)
		return 3;
	kept = malloc(10);
	return down(n - 1) + buffer[2];
}
int main(void) { return down(500); }
END
for linker in bfd gold lld; do
	if ! $CC -O1 -fsplit-stack -fuse-ld=$linker -o plain deep.c 2>errors; then
		echo "left out: -fsplit-stack with $linker: $(tail -n 1 errors)"
		continue
	fi
	[ $linker = lld ] && more=$weak || more=
	# shellcheck disable=SC2086 # flags
	$CC -O1 -fsplit-stack -fno-builtin -fno-optimize-sibling-calls -fuse-ld=$linker -o deep \
		deep.c $wraps $more $libraries 2>errors || fail "deep, $linker: $(tail -n 5 errors)"
	[ $linker != bfd ] || continue
	rm -f log
	LEAKWRAP_OPTIONS=log=$W/log ./deep >out 2>&1
	equal "-fsplit-stack with $linker: status" $? 3
	equal "-fsplit-stack with $linker: blocks" "$(dump_value "$W/log" 1 live_blocks)" 500
done
