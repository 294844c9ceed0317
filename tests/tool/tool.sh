# shellcheck shell=sh disable=SC2154 # variables of tests/lib.sh
# tool.sh - shared by the tests of the tool: runs the tool, and makes dumps by hand. These are dumps
# of programs that are only linked, for machines on which they cannot run.
#
# Sourced after tests/lib.sh.

lw=$O/leakwrap
[ -x "$lw" ] || skip "the tool is not built: $O/leakwrap"
unset NO_COLOR DEBUGINFOD_URLS
export LC_ALL=C

need() {
	for command; do
		command -v "$command" >/dev/null || skip "$command is not installed"
	done
}

# build_checked: builds $O/leakwrap.checked, the tool with sanitizers. One test builds it, and the
# others find it done.
build_checked() {
	(
		flock 9
		make -s O="$O" "$O/leakwrap.checked" >"$W/make" 2>&1
	) 9>"$O/checked.lock" && return
	grep -q 'cannot find.*[au][sb]*an' "$W/make" &&
		skip "the sanitizers' runtime is not installed"
	fail "$(tail -n 5 "$W/make")"
}

# status_is WANTED COMMAND...: runs the command. Standard output goes to $W/out, standard error to
# $W/err.
status_is() {
	wanted=$1
	shift
	"$@" >"$W/out" 2>"$W/err"
	got=$?
	[ $got = "$wanted" ] || fail "status $got, wanted $wanted: $* $(head -n 5 "$W/err")"
}

said() {
	grep -q -- "$1" "$W/err" || fail "did not say '$1' but: $(cat "$W/err")"
}

shows() {
	grep -q -- "$1" "$W/out" || fail "does not show '$1': $(head -n 40 "$W/out")"
}

shows_not() {
	! grep -q -- "$1" "$W/out" || fail "shows '$1': $(head -n 40 "$W/out")"
}

# return_address OBJDUMP EXE CALLER CALLEE: prints the return address of the first call of CALLEE in
# CALLER, as 0x...
return_address() {
	"$1" -d --no-show-raw-insn "$2" | awk -v caller="<$3>:" -v callee="<$4[@+>]" '
		/^[0-9a-f]+ <.*>:$/ { inside = $2 == caller; found = 0; next }
		inside && found { sub(/:$/, "", $1); print "0x" $1; exit }
		inside && $0 ~ callee { found = 1 }'
}

build_id() {
	readelf -n "$1" 2>/dev/null | awk '/Build ID:/ { print $3 }'
}

# add A B: prints the sum of two 0x... numbers.
add() {
	printf '0x%x' $(($1 + $2))
}

# make_dump PID.N TIME EXE BIAS BUILD_ID <SITES: prints a dump of one module. A line of SITES is a
# call site: BYTES BLOCKS KIND OFFSET..., the innermost offset first.
make_dump() {
	make_dump_lines "$@" | sed "s/^/leakwrap[$1] /"
}

make_dump_lines() {
	sites=0 lines=6 all_bytes=0 all_blocks=0 body=
	while read -r bytes blocks kind offsets; do
		sites=$((sites + 1)) lines=$((lines + 1)) frame=0
		all_bytes=$((all_bytes + bytes)) all_blocks=$((all_blocks + blocks))
		body="${body}site $sites: $bytes bytes in $blocks blocks, $kind
"
		for offset in $offsets; do
			body="$body  #$frame $(add "$4" "$offset") ? [1] ${3##*/}+$offset
"
			frame=$((frame + 1)) lines=$((lines + 1))
		done
	done
	cat <<-END
		dump version=1 reason=signal time=$2 program=$3
		total live_bytes=$all_bytes live_blocks=$all_blocks call_sites=$sites
		stacks complete_stack_bytes_percent=100.00 truncated_blocks=0 guessed_blocks=0
		loss ${none_lost%0}2
		tracer tracer_bytes=1310720
		${body}module 1 $4-$(add "$4" 0x100000) bias=$4 build_id=$5 path=$3
		end sites=$sites lines=$((lines + 1)) dump_ns=812345
	END
}

# named_dump NAME...: prints a dump of one call site through functions of these names, the innermost
# first. The file of the program does not exist.
named_dump() {
	echo "100 1 complete $(seq -f '0x%g0' -s ' ' $#)" |
		make_dump 7.1 2026-11-20T18:36:01Z /no/such/program 0x10000 none >"$W/unnamed"
	frame=0
	for name; do
		sed -i "s/ #$frame \(0x[0-9a-f]*\) ? / #$frame \1 $name+0x12 /" "$W/unnamed"
		frame=$((frame + 1))
	done
	cat "$W/unnamed"
}

# shown NAME: prints how the function NAME of a dump is shown.
shown() {
	named_dump main "$1" >"$W/log"
	status_is 0 "$lw" report -f json "$W/log"
	sed -n 's/.*"function":"main".*"function":"\([^"]*\)".*/\1/p' "$W/out"
}

# asked: prints the lines that the text report of $W/out has of its first call site.
asked() {
	sed -n '/^  #1 /,/^$/p' "$W/out" | sed '1d; /^$/d; s/  *program+.*//; s/^ *//'
}

# has_libiberty: true if the tool is built with libiberty, which knows names of Rust and D.
has_libiberty() {
	echo '#include <libiberty/demangle.h>' | "${HOSTCC:-cc}" -E - >/dev/null 2>&1
}
