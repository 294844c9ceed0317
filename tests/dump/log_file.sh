#!/bin/sh
# The tracer opens log files safely, and names a log that it cannot open.
#
# It does not follow a symbolic link, and the owner alone may read the file. A reader that does not
# read delays the program only for a while. Dumps of several processes share a log.
. tests/lib.sh

build log tests/dump/log_file.c

# refused WHAT LOG: with a log that the tracer must refuse, the program runs on and names the log.
refused() {
	LEAKWRAP_OPTIONS=log=$2 "$W/log" many >"$W/out" 2>"$W/err"
	equal "$1: status" $? 0
	grep -q "^leakwrap: cannot write a dump to '$2': error .*($1)" "$W/err" ||
		fail "$1: $(cat "$W/err")"
}
refused "no such folder" "$W/nowhere/log"
echo precious >"$W/victim"
ln -s victim "$W/planted"
refused "a symbolic link, which is not followed" "$W/planted"
equal "behind the link" "$(cat "$W/victim")" precious
mkfifo "$W/unread"
refused "a pipe that nobody reads" "$W/unread"

# The path that was tried stands there, with the process's number in it, unless it is too long.
LEAKWRAP_OPTIONS=log=$W/nowhere/%p.%n%% "$W/log" many 2>"$W/err" || fail "a number: status $?"
grep -q "^leakwrap: cannot write a dump to '$W/nowhere/[0-9][0-9]*\.1%': error " "$W/err" ||
	fail "a number: $(cat "$W/err")"
name=$(printf '%060d' 0)
ln "$W/log" "$W/$name"
long=/%e%e%e%e%e%e%e%e%e%e%e%e%e%e%e%e%e%e%e%e
LEAKWRAP_OPTIONS=log=$long "$W/$name" many 2>"$W/err" || fail "a long path: status $?"
grep -q "^leakwrap: cannot write a dump to '$long': error 36$" "$W/err" ||
	fail "a long path: $(cat "$W/err")"

# The owner alone may read the log, whatever the program's umask is.
(umask 0 && LEAKWRAP_OPTIONS=log=$W/mode.log "$W/log" many)
equal "mode" "$(stat -c %a "$W/mode.log")" 600
equal "dumps" "$(dumps "$W/mode.log" | wc -l)" 1

# Many processes, one log: every line belongs to a dump, and every dump is whole.
LEAKWRAP_OPTIONS=log=$W/shared.log:children=all "$W/log" processes || fail "processes: status $?"
equal "strange lines" "$(grep -cv '^leakwrap\[[0-9]*\.[0-9]*\] ' "$W/shared.log")" 0
equal "dumps of many processes" "$(dumps "$W/shared.log" | wc -l)" $((64 * 4))
awk '{ split($1, id, /[][]/); seen[id[2]]++ }
	$2 == "end" {
		for (i = 3; i <= NF; i++)
			if ($i ~ /^lines=/) {
				sub("lines=", "", $i)
				said[id[2]] = $i
			}
	}
	END {
		for (i in seen)
			if (seen[i] != said[i])
				print i, seen[i], said[i]
	}' "$W/shared.log" >"$W/torn"
equal "torn dumps" "$(cat "$W/torn")" ""
rm "$W/shared.log"

# Children of _Fork and of the clone system call write no exit dump.
LEAKWRAP_OPTIONS=log=$W/children.log "$W/log" children || fail "children: status $?"
equal "exit dumps" "$(dumps "$W/children.log" | wc -l)" 1

# An ignored signal gets its default action after posix_spawn, and stays ignored after exec.
"$W/log" ignores >"$W/ignores" 2>"$W/err" || fail "ignores: status $?"
equal "ignored by the next program" \
	"$(sed 's/SigIgn:.//; s/.*\(...\)$/\1/' "$W/ignores" | tr '\n' ' ')" "000 200 "

# A reader of the log does not read. The program ends nevertheless, and so does its next dump.
mkfifo "$W/stuck"
exec 3<>"$W/stuck"
timeout 60 "$W/log" many 2>"$W/stuck" 3<&-
equal "status behind a reader that does not read" $? 0
