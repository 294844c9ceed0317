#!/bin/sh
# A program under a seccomp filter that forbids what the tracer does not need has its dumps.
. tests/lib.sh

build confined tests/rules/confined.c
for otherwise in '' yes; do
	# shellcheck disable=SC2086 # an argument or none
	"$W/confined" $otherwise 2>"$W/log"
	status=$?
	[ $status != 77 ] || skip "no seccomp filters here"
	equal "status" $status 0
	for n in 1 2 3; do
		dump_is_whole "$W/log" $n || fail "dump $n is not whole"
		equal "dump $n" "$(dump_value "$W/log" $n live_bytes) $(dump_value "$W/log" $n live_blocks)" \
			"$((100 * 1024 * 1024 + 10000)) 200"
	done
done
# The README names them, but for those that are the program's own, or its C library's.
sed -n '/\(allowed\|refused\)\[\]/,/};/p' tests/rules/confined.c | grep -o 'SYS_[a-z_]*' | sed 's/SYS_//' |
	grep -vE '^(mprotect|brk|exit|exit_group|readlinkat)$' | while read -r call; do
	grep -q "\`$call\`" README.md || fail "$call is not in the README"
done
