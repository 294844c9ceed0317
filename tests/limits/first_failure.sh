#!/bin/sh
# dump_at=failure takes NULL for a failure only where memory was missing.
. tests/lib.sh

# dumps_of PROGRAM CALL: prints the reasons and the notes of the dumps that the call leads to.
dumps_of() {
	for sample in 0 64K; do
		rm -f "$W/log"
		LEAKWRAP_OPTIONS="log=$W/log:exit=0:sample=$sample:dump_at=failure" "$W/$1" "$2" ||
			fail "$1 $2: status $?"
		[ ! -e "$W/log" ] || sed -n 's/.* dump .* reason=\([a-z]*\) .*/\1/p
			s/.* note failed allocation: //p' "$W/log"
	done | tr '\n' ' '
}

# An allocator that returns NULL for 0 bytes by design.
build own tests/limits/first_failure.c tests/limits/null_for_0.c
build own_static -static tests/limits/first_failure.c tests/limits/null_for_0.c
for program in own own_static; do
	for call in malloc calloc realloc realloc_to memalign aligned_alloc posix_memalign; do
		equal "$program: $call of 0 bytes" "$(dumps_of $program ${call}_0)" ""
	done
	for call in malloc realloc; do
		equal "$program: $call" "$(dumps_of $program $call)" \
			"failure 9223372036854771711 bytes failure 9223372036854771711 bytes "
	done
done

# Functions of the C library, which makes its own calls unseen.
build_program_only library tests/limits/first_failure.c
equal "a string without memory" "$(dumps_of library strdup)" "failure 0 bytes failure 0 bytes "
equal "a path that is not there" "$(dumps_of library missing_path)" ""
