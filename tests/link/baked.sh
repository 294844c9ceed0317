#!/bin/sh
# Default options can be given at the link, and the environment overrides them.
#
# Programs that a build runs stay silent. The link refuses a bad option before it links the program.
. tests/lib.sh

ROOT=$PWD
export XDG_CACHE_HOME="$W/cache"
lw=$O/leakwrap

# The project's generator writes a header through its standard error, like bash's build.
mkdir "$W/project" || fail "cannot make $W/project"
cat >"$W/project/generator.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
void *volatile kept;
int main(void) { kept = malloc(10); fputs("#define SIZE 4096\n", stderr); return 0; }
END
cat >"$W/project/program.c" <<'END'
#include "size.h"
#include <stdlib.h>
void *volatile kept;
int main(void) { kept = malloc(SIZE); return 0; }
END
cat >"$W/project/Makefile" <<'END'
program: program.c size.h
	$(CC) -o $@ program.c
size.h: generator
	./generator 2>$@
generator: generator.c
	$(CC) -o $@ generator.c
END
project() {
	rm -f "$W/project/size.h" "$W/project/generator" "$W/project/program"
	(
		unset MAKEFLAGS MFLAGS MAKELEVEL
		make -s -C "$W/project" CC="$1" >"$W/make.out" 2>&1
	)
}
project "$lw cc -- $CC" && fail "a dump in size.h does no harm: the test tests nothing"
project "$lw cc --options=exit=0:signal=RTMIN+3 -- $CC" ||
	fail "the build fails: $(tail -n 5 "$W/make.out")"
"$W/project/program" 2>"$W/err"
equal "what the program writes" "$(cat "$W/err")" ""
LEAKWRAP_OPTIONS="exit=1" "$W/project/program" 2>"$W/err"
equal "bytes live" "$(dump_value "$W/err" 1 live_bytes)" 4096

# A test suite clears the environment, so the link names the log.
project "$lw cc --options=log=\"$W/%e.log\" -- $CC" ||
	fail "the build fails: $(tail -n 5 "$W/make.out")"
rm -f "$W/program.log"
env -i "$W/project/program" || fail "status $?"
equal "bytes live, without an environment" "$(dump_value "$W/program.log" 1 live_bytes)" 4096

# refused OPTIONS LINE: the link refuses OPTIONS with LINE.
refused() {
	"$lw" cc --options="$1" -- "$CC" -o "$W/none" "$W/project/program.c" 2>"$W/err"
	equal "status of $1" $? 2
	equal "$1" "$(cat "$W/err")" "leakwrap: options: $2"
}
refused exit=2 "'2' is no value of exit; it takes 0 or 1"
refused exitt=1 "there is no option 'exitt'; LEAKWRAP_OPTIONS=help=1 lists all"
refused exit "'exit' has no value; key=value:key=value is the notation"
refused exit=1:depth=1000 "'1000' is no value of depth; it takes 1 to 256"
faults="KILL and STOP cannot be caught, and SEGV, BUS, FPE, ILL, TRAP and ABRT report faults"
for signal in KILL SIGSTOP SEGV; do
	takes="it takes NAME, NUMBER, RTMIN+N or none"
	refused signal=$signal "'$signal' is no value of signal; $takes; $faults"
done
refused memory=1Q "'1Q' is no value of memory; it takes BYTES; K, M and G may follow"
refused 'log="/tmp/a:b' "the quotation mark in the value of 'log' has no end"

# The generator knows each option of the runtime.
LEAKWRAP_OPTIONS=help=1:exit=0 "$W/project/program" 2>&1 |
	sed -n 's/^leakwrap[^ ]*   \([a-z_]*\)=.*/\1/p' | sort >"$W/known"
[ -s "$W/known" ] || fail "help=1 lists nothing"
sed -n 's/^\([a-z_]*\)|.*/\1/p' "$O/generator/options" | sort | diff "$W/known" - ||
	fail "the generator knows other options"

# make passes options with every character that is special in make or in C.
cat >"$W/app.c" <<'END'
#include <stdlib.h>
void *volatile kept;
int main(void) { kept = malloc(6); return 0; }
END
cat >"$W/Makefile" <<END
LEAKWRAP_LIB := $O/libleakwrap.a
LEAKWRAP_DEFAULT_OPTIONS := log="$W/a ?b\\%p:'.log":depth=3
include $ROOT/linker-flags.mk
app: app.c \$(LEAKWRAP_LINK_LIB)
	\$(CC) -o \$@ app.c \$(LEAKWRAP_LDFLAGS) \$(LEAKWRAP_LDLIBS)
END
(
	unset MAKEFLAGS MFLAGS MAKELEVEL
	make -s -C "$W" CC="$CC" >"$W/make.out" 2>&1
) || fail "make: $(cat "$W/make.out")"
"$W/app" || fail "status $?"
ls "$W"/a\ \?b\\[0-9]*:\'.log >"$W/which" 2>&1 || fail "no such log: $(ls "$W")"

# A response file holds the flags of all wraps, as one word.
(
	unset MAKEFLAGS MFLAGS MAKELEVEL
	make -s O="$O" CC="$CC" PREFIX="$W/prefix" install >"$W/install.out" 2>&1
) || fail "make install: $(cat "$W/install.out")"
for linker in bfd gold lld mold; do
	command -v "ld.$linker" >"$W/which" 2>&1 || continue
	for compiler in gcc clang; do
		command -v $compiler >"$W/which" 2>&1 || continue
		$compiler -fuse-ld=$linker -o "$W/app" "$W/app.c" \
			"@$W/prefix/share/leakwrap/ldflags" "$W/prefix/lib/libleakwrap.a" ||
			fail "$compiler, $linker: does not link by a response file"
		LEAKWRAP_OPTIONS=exit=1 "$W/app" 2>"$W/err"
		equal "$compiler, $linker: bytes live" "$(dump_value "$W/err" 1 live_bytes)" 6
	done
done
command -v pkg-config >"$W/which" 2>&1 || exit 0
# shellcheck disable=SC2046 # flags
$CC -o "$W/app" "$W/app.c" \
	$(PKG_CONFIG_PATH="$W/prefix/lib/pkgconfig" pkg-config --variable=short_libs leakwrap) ||
	fail "does not link by pkg-config's short_libs"
LEAKWRAP_OPTIONS=exit=1 "$W/app" 2>"$W/err"
equal "pkg-config's short_libs: bytes live" "$(dump_value "$W/err" 1 live_bytes)" 6
