#!/bin/sh
# A static program links with a library that the compiler itself adds behind the runtime.
#
# This library needs wrappers that no object before the runtime needs. The link names the library in
# front of the runtime, too. Dynamic programs need nothing.
. tests/lib.sh

case $($CC -print-file-name=libgomp.a) in /*) ;; *) skip "no libgomp.a" ;; esac
kinds="dynamic static"
echo 'int main(void) { return 0; }' >"$W/plain.c"
$CC -fopenmp -static -o "$W/plain" "$W/plain.c" 2>"$W/errors" || {
	echo "left out, static: $(tail -n 1 "$W/errors")" # clang's library is shared in Debian
	kinds=dynamic
}

for linker in bfd gold lld mold; do
	command -v "ld.$linker" >"$W/which" 2>&1 || {
		echo "left out: no ld.$linker"
		continue
	}
	for kind in $kinds; do
		case $linker-$kind in
		*-dynamic) flags= ;;
		lld-static) flags="-static -lgomp $(leakwrap_flags LEAKWRAP_LLD_LDFLAGS)" ;;
		*-static) flags="-static -lgomp" ;;
		esac
		# shellcheck disable=SC2046,SC2086 # lists of flags
		$CC $CFLAGS_FOR_TESTS -fopenmp -fuse-ld=$linker -o "$W/program" \
			tests/link/openmp.c $flags \
			$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS) 2>"$W/errors" ||
			fail "$linker, $kind: does not link: $(tail -n 5 "$W/errors")"
		LEAKWRAP_OPTIONS=log=$W/$linker.$kind "$W/program" >"$W/out"
		equal "$linker, $kind: exit status" $? 5
		equal "$linker, $kind: output" "$(cat "$W/out")" "done"
		equal "$linker, $kind" "$(site_by "$W/$linker.$kind" 1 by_thread)" "1000 100"
	done
done

# leakwrap cc names the library by itself.
for kind in $kinds; do
	static=$([ "$kind" = dynamic ] || echo -static)
	# shellcheck disable=SC2086 # lists of flags
	"$O/leakwrap" cc -- "$CC" $CFLAGS_FOR_TESTS -fopenmp $static -o "$W/program" \
		tests/link/openmp.c || fail "leakwrap cc, $kind: does not link"
	LEAKWRAP_OPTIONS=log=$W/cc.$kind "$W/program" >"$W/out"
	equal "leakwrap cc, $kind" "$(site_by "$W/cc.$kind" 1 by_thread)" "1000 100"
done

# gcc links with it for these options, too.
# shellcheck disable=SC2086 # lists of flags
$CC $CFLAGS_FOR_TESTS -fopenmp -c -o "$W/openmp.o" tests/link/openmp.c || fail "cannot compile"
for option in -fopenacc -ftree-parallelize-loops=2; do
	[ "$kinds" = dynamic ] ||
		"$O/leakwrap" cc -- "$CC" $option -static -o "$W/program" "$W/openmp.o" ||
		fail "leakwrap cc, $option: does not link"
done

# So it does with libitm for transactions.
cat >"$W/atomic.c" <<'END'
#include <stdlib.h>
void *volatile kept;
static __attribute__((noinline)) void keep(void)
{
	void *block = NULL;

	__transaction_atomic { block = malloc(77); }
	kept = block;
}
int main(void)
{
	keep();
	return 5;
}
END
for kind in $kinds; do
	static=$([ "$kind" = dynamic ] || echo -static)
	# shellcheck disable=SC2086 # a list of flags
	$CC -fgnu-tm $static -o "$W/plain" "$W/atomic.c" 2>"$W/errors" || {
		echo "left out, -fgnu-tm: $(tail -n 1 "$W/errors")"
		break
	}
	# shellcheck disable=SC2086 # a list of flags
	"$O/leakwrap" cc -- "$CC" -g -fgnu-tm $static -o "$W/program" "$W/atomic.c" ||
		fail "leakwrap cc, -fgnu-tm, $kind: does not link"
	LEAKWRAP_OPTIONS=log=$W/atomic.$kind "$W/program"
	equal "-fgnu-tm, $kind: exit status" $? 5
	equal "-fgnu-tm, $kind" "$(site_by "$W/atomic.$kind" 1 keep)" "77 1"
done
