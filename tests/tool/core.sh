#!/bin/sh
# With a core file, the tool finds the kinds of live blocks that the running process finds: with
# that of the kernel after a crash, and with that of gdb.
. tests/lib.sh

tool=$O/leakwrap

# kinds LOG [ARGUMENT...]: prints the kinds of a dump and of its call sites.
kinds() {
	"$tool" report --format=json "$@" 2>"$W/err" >"$W/json" || fail "report $*: $(cat "$W/err")"
	jq -c '.dumps[-1] | [.totals.kinds, .totals.heap], (.call_sites[] | .kinds)' "$W/json"
}

# refused TEXT ARGUMENT...: the tool ends with status 2, and the line that it writes has TEXT.
refused() {
	text=$1 status=0
	shift
	"$tool" report "$@" >"$W/out" 2>"$W/err" || status=$?
	equal "$*: status" $status 2
	equal "$*: lines" "$(wc -l <"$W/err")" 1
	grep -q "$text" "$W/err" || fail "$*: $(cat "$W/err")"
}

build program tests/tool/core.c -static

# A crash: the program's last dump, and then the kernel's core file.
case $(cat /proc/sys/kernel/core_pattern) in
*[/\|]*) echo "the kernel does not write core files into the current folder" ;;
*)
	ulimit -c unlimited 2>/dev/null || skip "core files are not allowed"
	for shape in cases trees cycles delta lengths; do
		rm -f "$W/log" "$W"/core*
		(cd "$W" && LEAKWRAP_OPTIONS="kinds=always:blocks=1:crash=1:log=$W/log" \
			./program $shape || :) >"$W/out" 2>&1
		core=$(ls "$W"/core*)
		[ -s "$core" ] || fail "$shape: no core file"
		kinds "$W/log@1" >"$W/wanted"
		kinds "$W/log@1" --core="$core" >"$W/got"
		diff "$W/wanted" "$W/got" >"$W/difference" ||
			fail "$shape: the process (<), the tool (>): $(cat "$W/difference")"
		jq -e '.dumps[0].totals.scanned == "image"' "$W/json" >/dev/null || fail "scanned"
		# The dump of the crash has no kinds of its own.
		kinds "$W/log" --core="$core" >"$W/got"
		equal "$shape: crash" "$(cat "$W/got")" "$(cat "$W/wanted")"
	done

	# What cannot be used costs one line.
	head -c 100000 "$core" >"$W/cut"
	refused 'it is no core file' --core="$0" "$W/log"
	: >"$W/empty"
	refused 'it is empty' --core="$W/empty" "$W/log"
	refused 'No such file' --core="$W/none" "$W/log"
	refused 'it is not whole' --core="$W/cut" "$W/log"
	sed 's/^leakwrap\[[0-9]*/leakwrap[1/' "$W/log" >"$W/other"
	refused 'no dump of its process' --core="$core" "$W/other"
	grep -v '\] \(blocks\|memory\|own\) ' "$W/log" >"$W/unlisted"
	"$tool" report --core="$core" "$W/unlisted" >/dev/null 2>"$W/err" && fail "no blocks"
	grep -q 'option blocks=1' "$W/err" || fail "no blocks: $(cat "$W/err")"
	;;
esac

# Each root of a process in the debugger, which makes the core file.
command -v gdb >/dev/null || skip "gdb is not installed"
build roots tests/reach/roots.c
LEAKWRAP_OPTIONS="kinds=never:blocks=1:signal=none:log=$W/roots.log" gdb -batch -nx \
	-ex 'set debuginfod enabled off' -ex 'handle all nostop noprint pass' \
	-ex 'catch syscall exit_group' -ex run -ex "gcore $W/gcore" -ex kill "$W/roots" \
	>"$W/gdb" 2>&1
[ -s "$W/gcore" ] || skip "gdb cannot make a core file: $(tail -n 1 "$W/gdb")"
kinds "$W/roots.log" --core="$W/gcore" >/dev/null
jq -r '.dumps[0].call_sites[] | .frames[0].function + " " +
	([.kinds | to_entries[] | select(.value > 0) | .key] | .[0])' "$W/json" >"$W/got"
sed -n 's/^BLOCK(\([a-z_]*\))$/\1/p' tests/reach/roots.c | grep -vx keep_ignored >"$W/functions"
while read -r function; do
	case $function in
	lose_*) wanted=definite_bytes ;;
	*) wanted=reachable_bytes ;;
	esac
	equal "$function" "$(sed -n "s/^$function //p" "$W/got")" $wanted
done <"$W/functions"
