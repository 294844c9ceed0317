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
faults="KILL and STOP cannot be caught, SEGV, BUS, FPE, ILL, TRAP and ABRT report faults"
faults="$faults, and those from 32 to below RTMIN+0 are the C library's own"
for signal in KILL SIGSTOP SEGV; do
	takes="it takes NAME, NUMBER, RTMIN+N or none"
	refused signal=$signal "'$signal' is no value of signal; $takes; $faults"
done
refused memory=1Q "'1Q' is no value of memory; it takes BYTES; K, M and G may follow"
refused 'log="/tmp/a:b' "the quotation mark in the value of 'log' has no end"

refused log=%q "'%q' is no value of log; it takes stderr or PATH; PATH is shorter than \
1,024 bytes, and in it p, n, e, h or % follows each %"
refused 'dump_at="foo:1"' "'foo:1' is no value of dump_at; it takes none or in quotes live:BYTES, \
rss:BYTES, limit:PERCENT, height:PERCENT, failure; each of them once at most"

# The link takes what the runtime takes, and refuses what the runtime ignores.
long=$(printf '%01100d' 0)
if [ "$(getconf LONG_BIT)" = 64 ]; then
	most="s/MOST_G/17179869183G/; s/MOST_K/18014398509481983K/; s/MOST/18446744073709551615/"
	past="s/PAST_G/17179869184G/; s/PAST_K/18014398509481984K/; s/PAST/18446744073709551616/"
else
	most="s/MOST_G/3G/; s/MOST_K/4194303K/; s/MOST/4294967295/"
	past="s/PAST_G/4G/; s/PAST_K/4194304K/; s/PAST/4294967296/"
fi
while read -r verdict option; do
	option=$(echo "$option" | sed "s/LONG/$long/; $most; $past")
	echo "$verdict $option" >>"$W/verdicts"
	LEAKWRAP_OPTIONS=exit=0:$option "$W/project/program" >"$W/run" 2>&1
	if grep -q 'cannot be used' "$W/run"; then echo "bad $option"; else echo "good $option"; fi
done >"$W/runtime" <<'END'
good log=stderr
good log=/tmp/%p.%n.%e.%h.%%
bad log=
bad log=%q
bad log=a%
bad log=/LONG
good signal=none
good signal=SIGUSR2
good signal=RTMIN+3
good signal=SIGRTMIN+0
good signal=12
good signal=40
good signal=64
bad signal=RTMIN+99
bad signal=RTMIN+
bad signal=33
bad signal=9
bad signal=11
bad signal=0
bad signal=65
bad signal=usr1
good exit=0
bad exit=
good children=all
bad children=some
good depth=256
bad depth=0
bad depth=-1
good top=MOST
good top=007
bad top=PAST
bad top=1K
good min_bytes=16k
bad min_bytes=-1
good unwind=instrument
bad unwind=x
good memory=MOST_G
good memory=MOST_K
bad memory=PAST_G
bad memory=PAST_K
bad memory=99999999999999999999
bad memory=K
bad memory=1T
good crash=1
good record=0
good sample=1G
good sample=1048576K
good sample=0
bad sample=2G
bad sample=1073741825
bad sample=-1
bad sample=
good allocated=1
good peak=1
bad peak=yes
good dump_at=none
good dump_at=failure
good dump_at="live:1M,rss:2G,limit:100,height:1000,failure"
bad dump_at=
bad dump_at="foo:1"
bad dump_at="live:0"
bad dump_at="rss:0K"
bad dump_at="live:1M,live:2M"
bad dump_at="limit:101"
bad dump_at="height:0"
bad dump_at="live"
bad dump_at="live:"
bad dump_at="live:1M,"
bad dump_at="failure,failure"
bad dump_at="failure:1"
good dump_pause=1000000000
bad dump_pause=1000000001
bad dump_pause=x
good cgroup=auto
good cgroup=/sys/fs/cgroup
bad cgroup=x
bad cgroup=/LONG
good log_max=5M
bad log_max=5T
good misuse=report
bad misuse=on
good libraries=0
good fail=off
good fail=nth=1000000
good fail=nth=1000000,size=4096-8191,below=parse,sticky
good fail=rate=1000000,seed=0,size=-10,
good fail=site=0123456789abcdef,hit=99
good fail=site=00000123456789abcdef0
good fail=site=0x0123456789abcdef
good fail=list
bad fail=
bad fail=bogus
bad fail=off,list
bad fail=nth=0
bad fail=nth=1,nth=2
bad fail=nth=1,rate=2
bad fail=nth=1,hit=2
bad fail=nth=18446744073709551616
bad fail=site=123456789abcdef01
bad fail=site=ABC
bad fail=site=
bad fail=site=0x
bad fail=list,size=
bad fail=list,size=9-8
bad fail=list,size=-
bad fail=list,size=1-2-3
bad fail=list,below=
bad fail=list,below=LONG
bad fail=list=1
bad fail=list,sticky=1
bad fail=sticky
bad fail=list,,
good kinds=always
bad kinds=lost
good pointer_step=word
good pointer_step=4
bad pointer_step=3
good blocks=1
good system=0
good command=0
good help=0
bad help=2
END
diff "$W/verdicts" "$W/runtime" || fail "the runtime judges otherwise (>)"
while read -r verdict option; do
	if printf '%s' "$option" | awk -v file="$O/generator/options" \
		-f "$O/generator/check_options.awk" 2>"$W/err"; then
		echo "good $option"
	else
		echo "bad $option"
	fi
done <"$W/verdicts" >"$W/link"
diff "$W/verdicts" "$W/link" || fail "the link judges otherwise (>)"

# The generator knows each option of the runtime.
LEAKWRAP_OPTIONS=help=1:exit=0 "$W/project/program" 2>&1 |
	sed -n 's/^leakwrap[^ ]*   \([a-z_]*\)=.*/\1/p' | sort >"$W/known"
[ -s "$W/known" ] || fail "help=1 lists nothing"
sed -n 's/^\([a-z_]*\)|.*/\1/p' "$O/generator/options" | sort | diff "$W/known" - ||
	fail "the generator knows other options"
sed 's/^[a-z]* \([a-z_]*\)=.*/\1/' "$W/verdicts" | sort -u | diff "$W/known" - ||
	fail "above stand values of other options"

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

# The same link makes the same files again.
for compiler in gcc clang; do
	command -v $compiler >"$W/which" 2>&1 || continue
	for name in first second; do
		sh "$O/generator/generate.sh" --output="$W/$name" --options=exit=0 \
			--allocator=je_ -- $compiler || fail "$compiler: not generated"
	done
	for kind in a flags; do
		cmp "$W/first.$kind" "$W/second.$kind" || fail "$compiler: another file .$kind"
	done
done

# A response file holds the flags of all wraps, as one word.
(
	unset MAKEFLAGS MFLAGS MAKELEVEL
	make -s O="$O" CC="$CC" PREFIX="$W/prefix" install >"$W/install.out" 2>&1
) || fail "make install: $(cat "$W/install.out")"
# These words stand in the manual.
words=$(sed -n '/^Without pkg.*name both libraries/,/^\.EE/{/^gcc/,/[^e]$/p;}' wrap/man/leakwrap.7 |
	sed "s/^gcc .* @/@/; s/\\\\e\$//; s/\\\\-/-/g; s#/usr/local#$W/prefix#g")
for linker in bfd gold lld mold; do
	command -v "ld.$linker" >"$W/which" 2>&1 || continue
	for compiler in gcc clang; do
		command -v $compiler >"$W/which" 2>&1 || continue
		for static in "" -static; do
			# shellcheck disable=SC2086 # lists of words
			$compiler -fuse-ld=$linker $static -o "$W/app" "$W/app.c" $words ||
				fail "$compiler, $linker $static: does not link: $words"
		done
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
