#!/bin/sh
# The report of a misuse has file and line for each of its stacks.
#
# The programs are PIE and static, and run without their symbols. A dump of misuse is no dump of
# live blocks. The report tells what damage has left of it.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh

program=tests/alloc/misuse.c

# lines_in FUNCTION: prints the numbers of its lines, from its head on.
lines_in() {
	awk -v head="^static .*[ *]$1\\\\(" '
		$0 ~ head { inside = 1 }
		inside { print NR }
		inside && /^}/ { exit }' $program
}

# told_in HEAD FUNCTION: behind the line HEAD, the first frame is FUNCTION, at one of its own lines.
told_in() {
	line=$(awk -v head="^  $1" '$0 ~ head { getline; print; exit }' "$W/out")
	# shellcheck disable=SC2086 # NAME PLACE
	set -- "$1" "$2" $line
	equal "behind '$1'" "$3" "$2"
	equal "file of $2" "${4%:*}" "$PWD/$program"
	lines_in "$2" | grep -qx "${4##*:}" || fail "$2 is not at $4"
}

validated() {
	[ -x "$W/validate" ] ||
		${HOSTCC:-cc} -std=gnu11 -O1 -Wall -Wextra -o "$W/validate" tests/tool/validate.c \
			-ljansson ||
		fail "cannot build the validator"
	status_is 0 "$lw" report -f json "$@" "$W/log"
	"$W/validate" tests/tool/report.schema.json "$W/out" || fail "$(head -n 3 "$W/out")"
}

# run PROGRAM CASE: runs the program without its symbols, and reports its dump.
run() {
	rm -f "$W/log"
	strip -o "$W/stripped" "$W/$1"
	LEAKWRAP_OPTIONS=misuse=report:command=0:log=$W/log:exit=0 "$W/stripped" "$2" >"$W/ran" 2>&1
	dump_is_whole "$W/log" 1 || fail "$1 $2: no whole dump: $(cat "$W/log")"
	grep -q '\] module 1 .* build_id='"$(build_id "$W/$1")"' ' "$W/log" ||
		fail "$1 $2: no module line"
}

build pie -pie -fPIE -Wl,--build-id -Wno-error $program
build static -static -Wl,--build-id -Wno-error $program

for kind in pie static; do
	run $kind unaligned
	status_is 0 "$lw" report --exe="$W/$kind" "$W/log"
	shows ", process [0-9]*, dump 1 of misuse, "
	told_in 'release of a pointer into a block, 0x[0-9a-f]* by free in thread [0-9]*$' \
		drop_again
	told_in '100 bytes at 0x[0-9a-f]*, allocated$' make
	run $kind stack
	status_is 0 "$lw" report --exe="$W/$kind" "$W/log"
	told_in 'release of a pointer into the stack, 0x[0-9a-f]* by free in thread [0-9]*$' \
		drop_again
	validated --exe="$W/$kind"
	shows '"released":null,"block":null'
	run $kind literal
	status_is 0 "$lw" report --exe="$W/$kind" "$W/log"
	told_in 'release of a pointer into static data, 0x[0-9a-f]* by free in thread [0-9]*$' \
		drop_again
	validated --exe="$W/$kind"
	shows '"what":"static_pointer","function":"free"'
done

run static double
status_is 0 "$lw" report --exe="$W/static" "$W/log"
told_in 'double free of 0x[0-9a-f]* by free in thread [0-9]*$' drop_again
told_in 'released before$' drop_first
told_in '40 bytes at 0x[0-9a-f]*, allocated$' make
validated --exe="$W/static"
released='"what":"double_free","function":"free","pointer":"0x[0-9a-f]*","thread":[0-9]*'
shows "$released,\"frames\":\\[.*\"function\":\"drop_again\""
shows '"released":\[{[^}]*"function":"drop_first"'
block='"block":{"address":"0x[0-9a-f]*","bytes":40,"function":null'
shows "$block,\"frames\":\\[{[^}]*\"function\":\"make\""

# The dump of misuse says nothing of live blocks.
cp "$W/log" "$W/alone"
status_is 2 "$lw" report --fail-on-leaks "$W/alone"
said 'no dump of live blocks'
status_is 2 "$lw" diff "$W/alone" "$W/alone"
said 'no dump of live blocks'
for format in folded pprof html; do
	status_is 2 "$lw" report -f $format "$W/alone"
	said 'no dump of live blocks'
done
pid=$(sed -n '1s/^leakwrap.\([0-9]*\).*/\1/p' "$W/log")
echo "100 1 complete 0x$(nm "$W/static" | sed -n 's/ t make$//p')" |
	make_dump "$pid.2" 2026-11-20T18:36:01Z "$W/stripped" 0x0 "$(build_id "$W/static")" \
		>>"$W/log"
status_is 1 "$lw" report --fail-on-leaks --last "$W/log"
shows 'dump 1 of misuse'
shows 'dump 2 on signal'
status_is 2 "$lw" report --growth "$W/log"
said 'at least two dumps'
"$lw" report -f folded "$W/log" >"$W/with" 2>"$W/err"
sed "/^leakwrap.[0-9]*\.1/d" "$W/log" | "$lw" report -f folded 2>"$W/err" | cmp - "$W/with" ||
	fail "folded stacks tell of misuse"

# The report of a release by a function of another kind names both functions.
sed '/ misuse released/,/ misuse block/{/ misuse block/!d}' "$W/alone" >"$W/shorter"
sed "s/double_free/mismatch/; s/function=free/function=operator delete[]/
	s/bytes=40/& function=operator new/
	s/ lines=[0-9]* / lines=$(wc -l <"$W/shorter") /" "$W/shorter" >"$W/log"
status_is 0 "$lw" report --exe="$W/static" "$W/log"
[ ! -s "$W/err" ] || fail "$(cat "$W/err")"
head='release by a function of another kind, of 0x[0-9a-f]* by operator delete..'
told_in "$head in thread [0-9]*\$" drop_again
told_in '40 bytes at 0x[0-9a-f]*, allocated by operator new$' make

# damage SCRIPT MESSAGE HEADS: reports a dump that SCRIPT damaged. There is one message, and what is
# whole. HEADS is how many stacks have heads.
damage() {
	sed "$1" "$W/alone" >"$W/log"
	status_is 0 "$lw" report --exe="$W/static" "$W/log"
	equal "$1: messages" "$(wc -l <"$W/err")" 1
	said "dump [0-9]*\\.1 is damaged: $2"
	# One more line says that the dump is damaged.
	equal "$1: heads" "$(grep -c "^  [a-z0-9]" "$W/out")" $(($3 + 1))
	validated --exe="$W/static"
}
damage '/ misuse double_free/d' 'a frame is missing or out of order' 3
shows '"what":null,"function":null,"pointer":null,"thread":null,"frames":null,'
damage '2s/pointer=0x/pointer=/' 'what was misused is damaged' 3
damage '2s/ function=.*//' 'what was misused is damaged' 3
damage '/ misuse block/s/bytes=40/bytes=4x/' 'what was misused is damaged' 2
damage '/ misuse released/d' 'a frame is missing or out of order' 2
damage '4d' 'a frame is missing or out of order' 3
damage "/ misuse released/s/released/& again/;\$d" 'it has no end' 3
damage '1d' 'its first line is missing' 3

