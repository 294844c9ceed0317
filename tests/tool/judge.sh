#!/bin/sh
# The exit status judges leaks, limits and suppressions by each process's last dump.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh

build leaky tests/tool/leaky.c
LEAKWRAP_OPTIONS=log="$W/log" "$W/leaky" || fail leaky # 4,301 bytes in 3 blocks

status_is 0 "$lw" report "$W/log"
status_is 1 "$lw" report --fail-on-leaks "$W/log"
said '4,301 bytes in 3 blocks are lost'
status_is 0 "$lw" report --max-bytes=4301 "$W/log"
status_is 1 "$lw" report --max-bytes=4300 "$W/log"
status_is 0 "$lw" report --max-bytes=5K --max-blocks=3 "$W/log"
status_is 1 "$lw" report --max-bytes=5K --max-blocks=2 "$W/log"
said 'more than allowed'
status_is 2 "$lw" report --max-bytes=16777216T "$W/log"
status_is 2 "$lw" report --max-bytes=many "$W/log"
said '--max-bytes=many: must be a number from 0 to 2^64-1, also with K, M, G or T$'
# In a settings file these wait for a judgement. On the command line they would have no effect.
for option in --judge=all --leak-kinds=definite; do
	status_is 2 "$lw" report $option "$W/log"
	said "^leakwrap: ${option%=*} is for --fail-on-leaks"
done
printf 'judge=all\nleak-kinds=definite\n' >"$W/settings"
status_is 0 "$lw" report --config="$W/settings" "$W/log"
# A message names the option whose file is missing.
for option in suppressions config core exe sysroot debug-dir map output; do
	status_is 2 "$lw" report --$option= "$W/log"
	said "^leakwrap.*: --$option="
done
status_is 2 "$lw" report --image=0x1000: "$W/log"
said '^leakwrap: --image=0x1000:: must be ADDRESS:FILE'

# Suppressions name a function, a file or a module, with anchors and stars. An unused one is
# reported.
suppressed() {
	printf '%s\n' "$1" >"$W/suppressions"
	status_is "$2" "$lw" report --fail-on-leaks --suppressions="$W/suppressions" "$W/log"
}
suppressed 'leak:open_shop' 1
said '4,000 bytes in 1 block'
shows 'of these suppressed: 301 bytes in 2 blocks at 2 call sites'
status_is 0 "$lw" report --max-bytes=4000 --max-blocks=1 --suppressions="$W/suppressions" "$W/log"
suppressed 'leak:leaky.c' 0
suppressed 'leak:^main$' 0
suppressed 'leak:/leaky$' 0
suppressed 'leak:^mai$' 1
said 'leak:^mai$ suppresses nothing'
suppressed 'leak:f*l_c*e' 1
said '301 bytes'
line=$(grep -n 'calloc(10, 400)' tests/tool/leaky.c | cut -d : -f 1)
suppressed "leak:leaky.c:$line" 1
said '301 bytes'
suppressed "leak:leaky.c:${line%?}" 1
said "leak:leaky.c:${line%?} suppresses nothing"
suppressed 'leak:^open*shop$
# a comment

leak:fill_cache
leak:never_called' 0
said 'suppressions:5: leak:never_called suppresses nothing'
equal "messages" "$(wc -l <"$W/err")" 1
suppressed 'race:main' 2
said 'leak:PATTERN, .* also crash:, abort:, killed:, hang: or misuse:PATTERN$'
status_is 2 "$lw" report --suppressions="$W/none" "$W/log"
# A file of something else is not named line by line.
seq 1000 >"$W/numbers"
status_is 2 "$lw" report --suppressions="$W/numbers" "$W/log"
equal "messages" "$(wc -l <"$W/err")" 11
said 'numbers: the lines behind line 10 are not read$'
# A dollar or a caret elsewhere is a character of a name.
# shellcheck disable=SC2016
named_dump 'a$xa$b' >"$W/dollar"
# shellcheck disable=SC2016
for pattern in 'a$b' 'a$b$' '^a$*a$b$' 'a$x' '^a*$b' '$xa' '*b$' '^*$'; do
	echo "leak:$pattern" >"$W/suppressions"
	status_is 0 "$lw" report --fail-on-leaks --suppressions="$W/suppressions" "$W/dollar"
done
# shellcheck disable=SC2016
for pattern in '^a$b' 'a$b$x' 'x$b' '^xa$b$' 'a^$xa'; do
	echo "leak:$pattern" >"$W/suppressions"
	status_is 1 "$lw" report --fail-on-leaks --suppressions="$W/suppressions" "$W/dollar"
done

# The last dump of each process is judged. A dump that is not whole never passes.
echo "50 1 complete 0x10" | make_dump 3.1 2026-11-20T18:00:00Z /x/y 0x1000 none >"$W/series"
make_dump 3.2 2026-11-20T18:00:01Z /x/y 0x1000 none </dev/null >>"$W/series"
status_is 0 "$lw" report --fail-on-leaks "$W/series"
echo "50 1 complete 0x10" | make_dump 4.1 2026-11-20T18:00:00Z /x/y 0x1000 none >>"$W/series"
status_is 1 "$lw" report --fail-on-leaks "$W/series"
make_dump 3.2 2026-11-20T18:00:01Z /x/y 0x1000 none </dev/null | head -n 4 >"$W/cut"
status_is 2 "$lw" report --fail-on-leaks "$W/cut"
said 'cannot be judged'
echo "50 1 complete 0x10" | make_dump 5.1 2026-11-20T18:00:00Z /x/y 0x1000 none >"$W/leaks"
for logs in "$W/leaks $W/cut" "$W/cut $W/leaks"; do
	# shellcheck disable=SC2086 # words
	status_is 2 "$lw" report --fail-on-leaks $logs
	said 'process 5, dump 1: 50 bytes in 1 block are live$'
	said 'process 3, dump 2 cannot be judged'
done

# Wherever the dump of a program without leaks is cut, no leak is reported.
cat >"$W/keeps.c" <<'END'
#include <stdlib.h>

static void *volatile kept;

int main(void)
{
	kept = malloc(5000);
	return 0;
}
END
build keeps "$W/keeps.c"
LEAKWRAP_OPTIONS=log="$W/keeps.log" "$W/keeps" || fail "keeps"
status_is 0 "$lw" report --fail-on-leaks "$W/keeps.log"
lines=$(wc -l <"$W/keeps.log")
while [ $((lines -= 1)) -gt 0 ]; do
	head -n $lines "$W/keeps.log" >"$W/cut"
	status_is 2 "$lw" report --fail-on-leaks "$W/cut"
	said 'cannot be judged'
done
status_is 0 "$lw" report "$W/cut"
# It is one if reachable blocks are leaks, too.
grep -v -e '\] kinds ' -e '\] end ' "$W/keeps.log" >"$W/cut"
status_is 2 "$lw" report --fail-on-leaks "$W/cut"
status_is 1 "$lw" report --fail-on-leaks --leak-kinds=all "$W/cut"

# The C library of a static program keeps blocks for itself, which are no leaks.
echo 'int main(void) { return 0; }' >"$W/empty.c"
build empty -static "$W/empty.c" 2>/dev/null
LEAKWRAP_OPTIONS=log="$W/empty.log" "$W/empty" || fail empty
status_is 0 "$lw" report --fail-on-leaks "$W/empty.log"
build leaky_static -static tests/tool/leaky.c 2>/dev/null
LEAKWRAP_OPTIONS=log="$W/static.log" "$W/leaky_static" || fail leaky_static
status_is 1 "$lw" report --fail-on-leaks "$W/static.log"
said '4,301 bytes in 3 blocks are lost'
status_is 0 "$lw" report --max-blocks=3 --max-bytes=4301 "$W/static.log"

# What a shared library keeps is not judged. What it has lost is, whoever called it.
cat >"$W/library.c" <<'END'
#include <stdlib.h>
void *library_makes(size_t size) { return malloc(size); }
void *library_keeps;
void library_starts(void) { library_keeps = malloc(1000); }
END
cat >"$W/user.c" <<'END'
#include <stdlib.h>
#include <string.h>
void *library_makes(size_t size);
void library_starts(void);
char *inside;
__attribute__((noinline)) static void lose(size_t size, int count)
{
	if (size > 0) { /* a block that leads to another one */
		void **block = library_makes(size);
		*block = library_makes(20);
	}
	if (count > 2)
		inside = (char *)library_makes(300) + 100;
}
__attribute__((noinline)) static void clear_stack(void)
{
	char all[4096];
	memset(all, 1, sizeof(all));
	__asm__ volatile("" : : "r"(all) : "memory");
}
int main(int count, char **words)
{
	(void)words;
	library_starts();
	lose(count == 2 ? 80 : 0, count);
	clear_stack();
	return 0;
}
END
$CC -g -O1 -shared -fPIC -o "$W/libheld.so" "$W/library.c" || fail "no library"
build user "$W/user.c" -L"$W" -lheld -Wl,-rpath,"$W"
used() {
	rm -f "$W/used.log"
	LEAKWRAP_OPTIONS=log="$W/used.log" "$W/user" "$@" || fail "user $*"
}
used
status_is 0 "$lw" report --fail-on-leaks "$W/used.log"
status_is 0 "$lw" report --fail-on-leaks --leak-kinds=all "$W/used.log"
status_is 1 "$lw" report --fail-on-leaks --leak-kinds=all --judge=all "$W/used.log"
said '1,000 bytes in 1 block are live'
used lost
status_is 1 "$lw" report --fail-on-leaks "$W/used.log"
said '100 bytes in 2 blocks are lost'
status_is 1 "$lw" report --fail-on-leaks --leak-kinds=indirect "$W/used.log"
said '20 bytes in 1 block are lost'
status_is 0 "$lw" report --max-bytes=0 "$W/used.log"
used possibly lost
status_is 0 "$lw" report --fail-on-leaks "$W/used.log"
shows '300 bytes in 1 block possibly lost'
status_is 1 "$lw" report --fail-on-leaks --judge=all "$W/used.log"
said '300 bytes in 1 block are lost'
