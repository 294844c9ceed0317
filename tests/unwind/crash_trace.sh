#!/bin/sh
# With crash=1 a dying program writes signal, code, address, registers and call chain.
#
# The chain begins at the interrupted instruction. Then the program dies as it would have. The
# tracer leaves the program's own handler alone. Without crash=1 it writes nothing.
. tests/lib.sh

# status COMMAND...: prints how the command ended. What the shell says about it does not matter.
status() {
	sh -c '"$@" >"$0/out" 2>"$0/log"; echo $?' "$W" "$@" 2>/dev/null
}

frames() {
	dump_lines "$W/log" 1 | awk '
		/^total/ { exit }
		/^ *#/ { f = $3; sub(/\+0x.*/, "", f); printf "%s;", f }'
}

for static in '' -static; do
	# shellcheck disable=SC2086 # a list of flags
	build "crash$static" $static -fno-stack-protector tests/unwind/crash_trace.c
	program=$W/crash$static
	# how, signal number, frames
	while read -r how signal chain; do
		plain=$(LEAKWRAP_OPTIONS=exit=0 status "$program" "$how")
		! grep -q leakwrap "$W/log" ||
			fail "$how$static: told without being asked: $(cat "$W/log")"
		equal "$how$static: dies of" "$plain" $((128 + signal))
		equal "$how$static: with the trace" \
			"$(LEAKWRAP_OPTIONS=crash=1 status "$program" "$how")" "$plain"
		equal "$how$static: reason" "$(dump_value "$W/log" 1 reason)" crash
		equal "$how$static: signal" "$(dump_value "$W/log" 1 signal)" "$signal"
		frames | grep -q "^$chain" || fail "$how$static: chain is $(frames)"
		dump_lines "$W/log" 1 | grep -q '^registers ' || fail "$how$static: no registers"
		dump_is_whole "$W/log" 1 || fail "$how$static: the dump is torn"
		site_by "$W/log" 1 main | grep -q '^100 1' ||
			fail "$how$static: live blocks: $(site_by "$W/log" 1 main)"
	done <<-END
		SEGV 11 fails;caller;main;
		jump 11 ?;fails;caller;main;
		data 11 ?;fails;caller;main;
		FPE 8 fails;caller;main;
		ABRT 6 .*abort;fails[^;]*;caller;main;
		ILL 4 fails[^;]*;caller;main;
		BUS 7 .*fails;caller;main;
		kill 11 .*kill;fails;caller;main;
		overflow 11 overflow;overflow;overflow;
		thread 11 fails;caller;in_thread;
	END
	equal "status$static" "$(LEAKWRAP_OPTIONS=crash=1 status "$program" SEGV)" 139
	equal "address$static" "$(dump_value "$W/log" 1 fault_address)" 0x0
	equal "own stack$static" "$(LEAKWRAP_OPTIONS=crash=1 status "$program" stack)" 0
	equal "int3$static" "$(LEAKWRAP_OPTIONS=crash=1 status "$program" int3)" 133
	equal "int3$static: address" "$(dump_value "$W/log" 1 fault_address)" ""
	equal "own handler$static" "$(LEAKWRAP_OPTIONS=crash=1 status "$program" SEGV own)" 8
	equal "own handler's word$static" "$(cat "$W/out")" "my own handler"
	equal "own default$static" "$(LEAKWRAP_OPTIONS=crash=1 status "$program" SEGV default)" 139
	! grep -q reason=crash "$W/log" || fail "own default$static: told in spite of it"
	equal "shown$static" "$(LEAKWRAP_OPTIONS=crash=1 status "$program" shown; cat "$W/out")" "0
hhhhhh------"
	equal "shown$static, without the trace" "$(status "$program" shown; cat "$W/out")" "0
------------"
	equal "during a dump$static" \
		"$(LEAKWRAP_OPTIONS=crash=1 status "$program" SEGV dumping)" 139
	crash=$(sed -n 's/^leakwrap\[\([0-9.]*\)\] .* reason=crash .*/\1/p' "$W/log")
	dump_is_whole "$W/log" "$crash" ||
		fail "during a dump$static: not told: $(tail -n 3 "$W/log")"
	equal "by call$static" "$(LEAKWRAP_OPTIONS=exit=0 status "$program" call)" 139
	equal "by call$static: reason" "$(dump_value "$W/log" 1 reason)" crash
done
