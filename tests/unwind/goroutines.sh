#!/bin/sh
# Stacks through Go's runtime are complete: from C, over the goroutine's stack, to its first
# function, as Go itself tells them. Behind a callback from C they are truncated, and right so far.
# timeout: 400
. tests/lib.sh
. tests/unwind/go.sh

# try LABEL FLAG...: builds the program with the flags, for $GOARCH if that is set, runs it as
# "$run PROGRAM", and compares.
try() {
	label=$1
	shift
	rm -f "$W/log"
	build_go goroutines "$@" tests/unwind/goroutines.go
	LEAKWRAP_OPTIONS=log=$W/log $run "$W/goroutines" >"$W/callers" 2>"$W/err" ||
		fail "$label: status $?: $(cat "$W/err")"

	# Lines "SIZE KIND ADDRESS..." of the functions around main.leak.
	dump_lines "$W/log" 1 | awk '
		function flush() { if (is_leak) print site addresses }
		/^site / { flush(); site = $3 " " $8; addresses = ""; is_leak = is_around = 0 }
		/^ *#/ && is_around { addresses = addresses " " $2 }
		/^ *#/ && $3 ~ /^main\.leak\+/ { is_leak = is_around = 1 }
		/^module / { flush(); is_leak = 0 }' >"$W/stacks"
	# Go leaves out functions that its compiler and runtime put in between: of goroutines with
	# arguments, of deferred calls, and of calls by another convention. It has more behind the
	# callback.
	awk 'NR == FNR { callers[$1] = $0; next }
		{
			known = " " callers[$1] " "
			line = $1 " " $2
			for (i = 3; i <= NF; i++)
				if (index(known, " " $i " "))
					line = line " " $i
				else
					line = line " ?"
			print line
		}' "$W/callers" "$W/stacks" | sort >"$W/got"
	sed 's/^\([0-9]*\) /\1 complete /
		s/^\(200.* \)\([^ ]*\)$/\1? \2/
		s/^\(3001 complete [^ ]*\)/\1 ? ?/
		s/^4001 complete/4001 truncated/
		s/^\(4001 [^ ]* [^ ]*\) [^ ]* \([^ ]* [^ ]*\) \([^ ]*\) .*/\1 \2 ? \3/' \
		"$W/callers" | sort >"$W/wanted"
	diff "$W/wanted" "$W/got" >"$W/diff" || fail "$label: $(cat "$W/diff")"
	equal "$label: stacks" "$(wc -l <"$W/got")" 6
}

lib=$O/libleakwrap.a gcc=$CC run=
try "go"
try "position-independent" -buildmode=pie

if command -v aarch64-linux-gnu-gcc >/dev/null && command -v qemu-aarch64 >/dev/null; then
	runtime aarch64-linux-gnu CROSS_COMPILE=aarch64-linux-gnu-
	gcc=aarch64-linux-gnu-gcc run="qemu-aarch64 -L /usr/aarch64-linux-gnu"
	GOARCH=arm64 try AArch64
else
	echo "left out: no aarch64-linux-gnu-gcc, or no qemu-aarch64"
fi
