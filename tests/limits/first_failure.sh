#!/bin/sh
# dump_at=failure takes NULL for a failure only where memory was missing.
. tests/lib.sh

# As many bytes as there never are (first_failure.c).
much=9223372036854771711
[ "$(getconf LONG_BIT)" = 64 ] || much=4026531825

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
	for call in malloc realloc posix_memalign; do
		equal "$program: $call" "$(dumps_of $program $call)" \
			"failure $much bytes failure $much bytes "
	done
done

# Functions of the C library, which makes its own calls unseen.
build_program_only library tests/limits/first_failure.c
equal "an alignment that is not possible" "$(dumps_of library bad_alignment)" ""
equal "posix_memalign" "$(dumps_of library posix_memalign)" \
	"failure $much bytes failure $much bytes "
equal "a string without memory" "$(dumps_of library strdup)" "failure 0 bytes failure 0 bytes "
equal "a path that is not there" "$(dumps_of library missing_path)" ""

# A call of the program, a call of a shared library, and an allocator of another name.
build process tests/limits/first_failure.c
echo 'int run(int, char **); int main(int count, char **words) { return run(count, words); }' \
	>"$W/main.c"
"$CC" -shared -fPIC -Dmain=run -o "$W/libcalls.so" tests/limits/first_failure.c ||
	fail "cannot link"
build shared "$W/main.c" -L"$W" -lcalls -Wl,-rpath,"$W"
renamed=
for function in malloc calloc realloc memalign aligned_alloc posix_memalign free; do
	renamed="$renamed -D$function=my_$function"
done
# shellcheck disable=SC2086 # lists of flags
XDG_CACHE_HOME=$W LEAKWRAP_LIB=$O/libleakwrap.a "$O/leakwrap" cc --allocator=my_ -- \
	"$CC" $CFLAGS_FOR_TESTS $renamed -o "$W/named" tests/limits/first_failure.c \
	tests/limits/null_for_0.c || fail "leakwrap cc"
equal "named: an alignment that is not possible" "$(dumps_of named bad_alignment)" ""
for program in process shared named; do
	equal "$program: posix_memalign" "$(dumps_of $program posix_memalign)" \
		"failure $much bytes failure $much bytes "
done
