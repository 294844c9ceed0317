#!/bin/sh
# An executed program gets the signal dispositions, arguments and environment that it gets untraced.
#
# It ignores the dump signal if the program before it did. If exec fails, the tracer has its handler
# again.
. tests/lib.sh

cat >"$W/executed" <<-'END'
	#!/bin/sh
	# SigIgn is a mask in hexadecimal, signal 1 in bit 0; SIGUSR1 is 10 (signal(7)).
	mask=$(sed -n 's/^SigIgn:[[:space:]]*//p' /proc/self/status)
	echo "$1, ${NAME:-none}, $((0x$mask >> 9 & 1))"
END
chmod +x "$W/executed"
unset NAME

for static in '' -static; do
	build "exec$static" $static tests/process/exec.c
	for function in execv execve execvp execvpe fexecve execveat execl execlp execle vfork; do
		name=none
		case $function in execve | execvpe | fexecve | execveat | execle) name=value ;; esac
		out=$("$W/exec$static" "$function" "$W/executed" 2>"$W/log") ||
			fail "$function$static: status $?"
		equal "$function$static" "$out" "an argument, $name, 1"
		dump_is_whole "$W/log" 1 ||
			fail "$function$static: no dump after the exec that failed"
	done
	equal "dumps around vfork$static" "$(grep -c reason=signal "$W/log")" 2
done
