#!/bin/sh
# A program under a seccomp filter that forbids what the tracer does not need gets its dumps.
. tests/lib.sh

build confined tests/process/seccomp_dumps.c
for how in '' otherwise; do
	"$W/confined" "$how" 2>"$W/log" &
	pid=$!
	wait $pid
	status=$?
	[ $status != 77 ] || skip "no seccomp filters here"
	equal "status" $status 0
	# Dump 2 had no reader.
	for n in 1 3 4; do
		dump_is_whole "$W/log" $pid.$n || fail "dump $n is not whole"
		bytes=$(dump_value "$W/log" $pid.$n live_bytes)
		equal "dump $n" "$bytes $(dump_value "$W/log" $pid.$n live_blocks)" \
			"$((100 * 1024 * 1024 + 10000)) 200"
	done
	# 100 blocks of 1 MB lie in about 100 regions, each of which has a table.
	bytes=$(dump_value "$W/log" $pid.1 tracer_bytes)
	[ "$bytes" -ge $((100 * 4096)) ] || fail "the tracer says that it takes $bytes bytes"
	equal "dumps of the child" "$(dumps "$W/log" | grep -cv "^$pid\\.")" 1
done
"$W/confined" strict 2>"$W/log" || fail "strict: status $?"
LEAKWRAP_OPTIONS=crash=1 "$W/confined" crash 2>"$W/log" &
pid=$!
wait $pid
equal "status of a crash" $? 139 # 128 and SIGSEGV
equal "the crash" \
	"$(dump_value "$W/log" $pid.3 reason) $(dump_value "$W/log" $pid.3 signal)" "crash 11"
# leakwrap(7) names the calls, except for those of the program itself and of its C library.
manual_text wrap/man/leakwrap.7 >"$W/manual"
sed -n '/^ *A seccomp filter$/,/^ *The crash trace$/p' "$W/manual" >"$W/named"
of_program="mprotect|brk|exit|exit_group|readlinkat|clone|clone3|set_robust_list|rseq|wait4"
sed -n '/^static const long/,/};/p' tests/process/seccomp_dumps.c | grep -o 'SYS_[a-z_0-9]*' |
	sed 's/SYS_//' | grep -vE "^($of_program)\$" | while read -r call; do
	grep -qw "$call" "$W/named" || fail "$call is not in leakwrap(7)"
done || exit 1
