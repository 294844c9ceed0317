#!/bin/sh
# On a board, dumps tell lost from reachable memory: data, stacks and saved registers of tasks keep
# blocks, and their past and free memory do not. A program that does not ask has no code for it.
. tests/lib.sh
. tests/bare/board.sh

cat >"$W/wanted" <<'END'
21 reachable=21/1
40 reachable=40/1
41 reachable=41/1
42 reachable=42/1
43 reachable=43/1
44 reachable=44/1
45 reachable=45/1
46 reachable=46/1
48 reachable=48/1
50 reachable=50/1
51 reachable=51/1
52 reachable=52/1
53 reachable=53/1
54 reachable=54/1
60 definite=60/1 indirect=122/2
61 within=61/1
61 within=61/1
62 definite=62/1
63 definite=63/1
64 definite=64/1
70 possible=70/1
71 possible=71/1
8 reachable=8/1
90 reachable=90/1
END
kinds="definite_bytes=249 definite_blocks=4 indirect_bytes=122 indirect_blocks=2 possible_bytes=141"

# On the m0, frames of the dump have words that nobody writes, and what they hold may keep a lost
# block reachable: the board is left out.
for board in m3 a9 926; do
	board_build "$board" kinds tests/bare/kinds.c
	board_run "$board" kinds "$W/log" || fail "$board: status $?: $(tail -n 5 "$W/log")"
	dump_lines "$W/log" 1 | sed -n 's/^site [0-9]*: \([0-9]*\) bytes in 1 block, [a-z]*/\1/p' |
		grep -v ' 1024/1$' | sort >"$W/got"
	cmp -s "$W/wanted" "$W/got" || fail "$board: $(diff "$W/wanted" "$W/got")"
	dump_lines "$W/log" 1 | grep "^kinds $kinds .* scanned=in_place heap=known " >"$W/line" ||
		fail "$board: $(grep kinds "$W/log")"
	"$lw" report --fail-on-leaks --exe="$W/kinds.$board" "$W/log" >"$W/out" 2>"$W/err"
	equal "$board: verdict" $? 1
done

# refused WHY FLAG...: fails unless a program that was built with FLAG records all, has no kinds,
# and says why.
refused() {
	why=$1
	shift
	board_build m3 kinds -DLITTLE "$@" tests/bare/kinds.c
	board_run m3 kinds "$W/log" || fail "$*: status $?: $(tail -n 5 "$W/log")"
	equal "$*: live" "$(dump_value "$W/log" 1 live_blocks)" 24
	equal "$*: note" "$(dump_lines "$W/log" 1 | grep '^note ')" \
		"note lost memory is not told from reachable memory: $why"
}

# Too little memory for the scan, but enough for all records.
refused "leakwrap_bare.memory has not 5 bytes a block and 40 a call site left" -DMEMORY=2800
refused "leakwrap_bare.roots and root_count are not set" -DROOTS=0
refused "too many blocks: leakwrap_bare.live_blocks may be at most 57342" \
	-DMEMORY=700000 -DLIVE_BLOCKS=57343

board_build m3 kinds -DNO_KINDS tests/bare/kinds.c
board_run m3 kinds "$W/log" || fail "without kinds: status $?"
! grep -q ' kinds \|definite' "$W/log" || fail "without kinds: $(grep kinds "$W/log")"
arm-none-eabi-nm "$W/kinds.m3" >"$W/symbols"
! grep -w 'leakwrap_reach_scan\|leakwrap_kinds_write_total' "$W/symbols" ||
	fail "a program that does not ask for kinds has code for them"
