#!/bin/sh
# With a core file, the tool finds the kinds of live blocks that the running process finds, and what
# keeps blocks alive: with the kernel's core file after a crash, and with that of gdb.
. tests/lib.sh

tool=$O/leakwrap

# kinds LOG [ARGUMENT...]: prints the kinds of a dump and of its call sites.
kinds() {
	"$tool" report --format=json "$@" 2>"$W/err" >"$W/json" || fail "report $*: $(cat "$W/err")"
	jq -c '.dumps[-1] | [.totals.kinds, .totals.heap], (.call_sites[] | .kinds)' "$W/json"
}

# refused TEXT COMMAND ARGUMENT...: the tool ends with status 2, and the line that it writes has
# TEXT.
refused() {
	text=$1 status=0
	shift
	"$tool" "$@" >"$W/out" 2>"$W/err" || status=$?
	equal "$*: status" $status 2
	equal "$*: lines" "$(wc -l <"$W/err")" 1
	grep -q "$text" "$W/err" || fail "$*: $(cat "$W/err")"
}

# answers TEXT...: $W/out has each text.
answers() {
	for text; do
		grep -q -e "$text" "$W/out" || fail "why does not say '$text': $(cat "$W/out")"
	done
}

# crash SHAPE [PROGRAM]: runs the program until it aborts.  $core is the kernel's core file.
crash() {
	rm -f "$W/log" "$W"/core*
	(
		cd "$W" || exit
		export LEAKWRAP_OPTIONS="kinds=always:blocks=1:crash=1:log=$W/log"
		./"${2-program}" "$1"
		true
	) >"$W/out" 2>&1
	core=$(ls "$W"/core*)
	[ -s "$core" ] || fail "$1: no core file"
}

# The kinds after a crash.
check_kinds() {
	for shape in cases trees cycles delta lengths; do
		crash $shape
		kinds "$W/log@1" >"$W/wanted"
		kinds "$W/log@1" --core="$core" >"$W/got"
		diff "$W/wanted" "$W/got" >"$W/difference" ||
			fail "$shape: the process (<), the tool (>): $(cat "$W/difference")"
		jq -e '.dumps[0].totals.scanned == "image"' "$W/json" >/dev/null || fail "scanned"
		# The dump of the crash has no kinds of its own.
		kinds "$W/log" --core="$core" >"$W/got"
		equal "$shape: crash" "$(cat "$W/got")" "$(cat "$W/wanted")"
	done
}

# What keeps blocks alive.  A list is one way.
check_why() {
	"$tool" why --core="$core" make_list "$W/log" >"$W/out" || fail "why: status $?"
	node=16 all=1,600 inner=0x78 # a node has two pointers
	[ "$(getconf LONG_BIT)" = 64 ] || node=8 all=800 inner=0x3c
	answers " $all bytes in 100 blocks, still reachable" \
		'variable elements of program, at 0x' "-> $node bytes at 0x"
	for top in 2 4294967297; do # the second is 2^32 + 1
		"$tool" why --core="$core" --top=$top make_two_ways "$W/log" >"$W/out" ||
			fail "why: status $?"
		answers 'variable left of program' 'variable right of program'
	done
	"$tool" why --core="$core" make_secret "$W/log" >"$W/out" || fail "why: status $?"
	"$tool" why --core="$core" --image=0x0:"$core" make_list "$W/log" 2>&1 |
		grep -q -e '--core and --image exclude each other' || fail "why takes both"
	grep -q sesame "$W/out" && fail "why shows content"
	"$tool" why --core="$core" --content=12 make_secret "$W/log" >"$W/out" || fail "content"
	answers 'possibly lost' "variable inner+$inner of program" ', 0x5 bytes into it, #' \
		' 6f 70 65 6e .*  open sesame,$'
	"$tool" why --core="$core" --content=12 --format=json -o "$W/json" "" "$W/log" ||
		fail "why: json"
	blocks=$(dump_value "$W/log" 2 live_blocks)
	jq -e --argjson blocks "$blocks" '[.call_sites[].ways[]] |
		([.[].blocks] | add == $blocks) and
		([.[] | select(.root.variable == "elements") | .blocks] == [100]) and
		([.[] | select(.content == "6f70656e20736573616d652c")
			| .root.offset] == ["'$inner'"])' \
		"$W/json" >/dev/null || fail "json: $(cat "$W/json")"
	refused 'has no call site' why --core="$core" nosuch "$W/log"

	# A name that is no UTF-8, or turns the direction of text, is escaped.
	hidden=$(printf 'program\377\342\200\256')
	cp "$W/program" "$W/$hidden" || fail "cp"
	crash lengths "$hidden"
	"$tool" why --core="$core" --format=json make_list "$W/log" >"$W/json" || fail "why: json"
	escaped='program\\xff\u202e"'
	grep -qF "$escaped,\"variable\":\"elements\"" "$W/json" || fail "names: $(cat "$W/json")"
}

# What cannot be used costs one line.
check_refused() {
	head -c 100000 "$core" >"$W/cut"
	: >"$W/empty"
	refused 'it is no core file' report --core="$0" "$W/log"
	refused 'it is empty' report --core="$W/empty" "$W/log"
	refused 'No such file' report --core="$W/none" "$W/log"
	refused 'core and --image exclude' report --core="$core" --image=0x0:"$core" "$W/log"
	refused 'it is not whole' report --core="$W/cut" "$W/log"
	sed 's/^leakwrap\[[0-9]*/leakwrap[1/' "$W/log" >"$W/other"
	refused 'no dump of its process' report --core="$core" "$W/other"
	LEAKWRAP_OPTIONS="log=$W/unlisted" "$W/roots" || fail "roots: status $?"
	sed -i "s/^leakwrap\[[0-9]*/leakwrap[$(dumps "$W/log" | head -n 1 | cut -d . -f 1)/" \
		"$W/unlisted"
	refused 'option blocks=1' report --core="$core" "$W/unlisted"
}

# other_core NAME MACRO...: makes a core file of the process of $W/machine.log on another machine.
other_core() {
	name=$1
	shift
	cc -c -o "$W/$name.o" "$@" -DPID="$(dumps "$W/machine.log" | sed 's/\..*//')" \
		tests/tool/other_core.S || fail "other_core.S"
	objcopy -O binary -j .text "$W/$name.o" "$W/$name" || fail "objcopy"
}

# A core file of another machine than the program's is refused, whatever memory it has.
check_machines() {
	LEAKWRAP_OPTIONS="kinds=never:blocks=1:log=$W/machine.log" "$W/roots" ||
		fail "roots: status $?"
	case $($CC -dumpmachine) in
	x86_64*) own=x86-64 own_number=62 other=AArch64 number=183 ;;
	i?86*) own=i386 own_number="3 -DNARROW" other=x86-64 number=62 ;;
	*) own=AArch64 own_number=183 other=x86-64 number=62 ;;
	esac
	other_core wide -DMACHINE=$number
	other_core narrow -DMACHINE=40 -DNARROW
	for machine in wide:$other narrow:ARM; do
		line="is a core file of ${machine#*:}, but $W/roots is a program for $own: "
		line="$line--core takes the core file of this program"
		refused "$line" report --core="$W/${machine%:*}" "$W/machine.log"
		refused "$line" why --core="$W/${machine%:*}" main "$W/machine.log"
	done
}

# A process that executes a program counts its dumps from 1 again: the last dump is that of the
# program that the core file holds.
check_executed() {
	# shellcheck disable=SC2086 # one word or two
	other_core own -DMACHINE=$own_number
	sed 's/^\(leakwrap\[[0-9]*\.\)1\]/\12]/; s/ time=20/ time=19/' "$W/machine.log" |
		cat - "$W/machine.log" >"$W/executed.log"
	kinds "$W/executed.log" --core="$W/own" >/dev/null
	equal "judged" "$(jq -c '[.dumps[] | select(.totals.scanned == "image") | .sequence]' \
		"$W/json")" '[1]'
	kinds "$W/executed.log@2" "$W/executed.log" --core="$W/own" >/dev/null
	equal "judged, chosen" "$(jq -c '[.dumps[] | select(.totals.scanned == "image") |
		.sequence]' "$W/json")" '[2]'
}

build program tests/tool/core.c -static
build roots tests/reach/roots.c
check_machines
check_executed
case $(cat /proc/sys/kernel/core_pattern) in
*/* | *\|*) echo "the kernel does not write core files into the current folder" ;;
*)
	# shellcheck disable=SC3045 # dash and bash have it
	ulimit -c unlimited 2>/dev/null || skip "core files are not allowed"
	check_kinds
	check_why
	check_refused
	;;
esac

# check_roots LOG REGEX: the blocks of each root have the kinds that the names of their functions
# tell, and those of functions that match REGEX are reachable, too.
check_roots() {
	kinds "$1" --core="$W/gcore" >/dev/null
	jq -r '.dumps[0].call_sites[] | .frames[0].function + " " +
		([.kinds | to_entries[] | select(.value > 0) | .key] | .[0])' "$W/json" >"$W/got"
	while read -r function; do
		case $function in
		lose_*) wanted=definite_bytes ;;
		inside_*) wanted=possible_bytes ;;
		*) wanted=reachable_bytes ;;
		esac
		! echo "$function" | grep -qxE "$2" || wanted=reachable_bytes
		equal "$1: $function" "$(sed -n "s/^$function //p" "$W/got")" $wanted
	done <"$W/functions"
}

# Each root of a process in the debugger, which makes the core file.  The dump tells at which steps
# pointers lie.
command -v gdb >/dev/null || skip "gdb is not installed"
options=kinds=never:blocks=1:signal=none:pointer_step=1
LEAKWRAP_OPTIONS="$options:log=$W/roots.log" gdb -batch -nx \
	-ex 'set debuginfod enabled off' -ex 'handle all nostop noprint pass' \
	-ex 'catch syscall exit_group' -ex run -ex "gcore $W/gcore" -ex kill "$W/roots" \
	>"$W/gdb" 2>&1
[ -s "$W/gcore" ] || skip "gdb cannot make a core file: $(tail -n 1 "$W/gdb")"
sed -n 's/^BLOCK(\([a-z_]*\))$/\1/p' tests/reach/roots.c | grep -vx keep_ignored >"$W/functions"
check_roots "$W/roots.log" 'lose_packed|lose_across_pages'
sed 's/ pointer_step=1$//' "$W/roots.log" >"$W/words.log"
check_roots "$W/words.log" ''
