#!/bin/sh
# Each root keeps its block reachable, and a block that no root holds is lost: in data, thread-local
# storage, thread keys, stacks of threads that sleep and that block signals, registers, a
# coroutine's stack, and memory that the program maps.
. tests/lib.sh

# kind_of FUNCTION: prints the kind of its only block in the dump.
kind_of() {
	dump_lines "$W/log" 1 | awk -v f="$1" '
		/^site / { kind = $NF; sub("=.*", "", kind) }
		/^ *#0 / { name = $3; sub(/\+0x.*/, "", name); if (name == f) print kind }'
}

# check WHAT PROGRAM...: runs the program and checks each block.
check() {
	what=$1
	shift
	rm -f "$W/log"
	LEAKWRAP_OPTIONS="kinds=always:log=$W/log:signal=none" "$@" || fail "$what: status $?"
	grep -q '^leakwrap.* kinds ' "$W/log" || fail "$what: no kinds: $(grep note "$W/log")"
	sed -n 's/^BLOCK(\([a-z_]*\))$/\1/p' tests/reach/roots.c >"$W/functions"
	while read -r function; do
		case $function in
		lose_*) wanted=definite ;;
		*ignored) wanted= ;;
		*) wanted=reachable ;;
		esac
		[ "$function" != keep_through_ignored ] || wanted=reachable
		equal "$what: $function" "$(kind_of "$function")" "$wanted"
	done <"$W/functions"
}

flags=-fno-optimize-sibling-calls
build dynamic tests/reach/roots.c $flags
check dynamic "$W/dynamic"
build static tests/reach/roots.c $flags -static
check static "$W/static"
