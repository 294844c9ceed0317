#!/bin/sh
# shellcheck disable=SC2034,SC2154 # variables of tests/lib.sh and target.sh
# A dump says which command line started the program, except with command=0.
#
# It says so even if the program has overwritten its command line.
# timeout: 400
. tests/lib.sh
. tests/targets/target.sh

cat >"$W/title.c" <<'END'
#include <signal.h>
#include <stdlib.h>
#include <string.h>
void *volatile kept;
int main(int argc, char **argv)
{
	kept = malloc(10);
	for (int i = 0; i < argc; i++)
		memset(argv[i], 'x', strlen(argv[i]));
	raise(SIGUSR1);
	return 0;
}
END

# command_of PROGRAM: prints the command line, which must be equal in both dumps.
command_of() {
	log=$W/log
	rm -f "$log"
	LEAKWRAP_OPTIONS=log=$log:$options "$@" || fail "$1: status $?"
	for n in 1 2; do
		dump_lines "$log" $n | sed -n '2s/^command //p' >"$W/command.$n"
	done
	cmp -s "$W/command.1" "$W/command.2" || fail "$1: two dumps, two command lines"
	cat "$W/command.1"
}

runtimes=$CC
! command -v musl-gcc >/dev/null || runtimes="$runtimes musl-gcc"
for CC in $runtimes; do
	if [ "$CC" = musl-gcc ]; then
		runtime x86_64-linux-musl CC=musl-gcc
		O=${lib%/*}
	fi
	for static in '' -static; do
		build title $static "$W/title.c"
		options=
		equal "$CC $static" "$(command_of "$W/title" --port 80 '' "it's a \\ word")" \
			"$W/title --port 80 \\ it's\\x20a\\x20\\x5c\\x20word"
		# A dump writes at most 960 bytes of the command line.
		# shellcheck disable=SC2046 # many words
		long=$(command_of "$W/title" $(seq 1000 2000))
		[ ${#long} -ge 950 ] || fail "$CC $static: only ${#long} bytes"
		[ ${#long} -le 964 ] || fail "$CC $static: ${#long} bytes"
		case $long in
		"$W/title 1000 1001 "*'\...') ;;
		*) fail "$CC $static: a long command line: $long" ;;
		esac
		options=command=0
		equal "$CC $static: command=0" "$(command_of "$W/title" secret)" ""
		! grep -q secret "$log" || fail "a secret is in the log"
	done
done
