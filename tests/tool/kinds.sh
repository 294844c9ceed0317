#!/bin/sh
# The tool shows lost memory first, in each format, and judges by the kinds that the user names;
# leakwrap dump --kinds asks a running program.
. tests/lib.sh
. tests/tool/tool.sh

tool=$O/leakwrap
build program tests/reach/shapes.c -static
build clean tests/signal/idle_process.c

# judged ARGUMENT...: prints the exit status of report --fail-on-leaks.
judged() {
	"$tool" report --fail-on-leaks "$@" >/dev/null 2>"$W/message"
	echo $?
}

# A node has two pointers. Three are definitely lost, two indirectly.
node=$(($(getconf LONG_BIT) / 4))
LEAKWRAP_OPTIONS="log=$W/log" "$W/program" cases || fail "status $?"
"$tool" report "$W/log" >"$W/text" || fail "report: status $?"
equal "text" "$(grep -c "^  definitely lost: $((3 * node)) bytes in 3 blocks\$" "$W/text")" 1
grep '^  #' "$W/text" | head -n 1 | grep -q 'definitely lost' || fail "lost memory is not first"
"$tool" report --format=json "$W/log" | jq -e --argjson node $node '
	.dumps[0] |
	(.totals.kinds | .definite_bytes == 3 * $node and .indirect_bytes == 2 * $node) and
	(.totals.pause_ns > 0) and
	([.call_sites[].kinds.definite_bytes] | add == 3 * $node) and
	([.call_sites[].kinds.indirect_bytes] | add == 2 * $node) and
	([.call_sites[] | .live_bytes == (.kinds | .definite_bytes + .within_bytes +
		.possible_bytes + .reachable_bytes)] | all)' >/dev/null || fail "json"
equal "lost" "$(judged "$W/log")" 1
grep -q 'are lost$' "$W/message" || fail "message: $(cat "$W/message")"
equal "all" "$(judged --leak-kinds=all "$W/log")" 1
equal "wrong kind" "$(judged --leak-kinds=lost "$W/log")" 2
rm "$W/log"

# Reachable blocks are no leaks unless the user says so.
LEAKWRAP_OPTIONS="log=$W/log" "$W/program" nothing || fail "status $?"
equal "nothing lost" "$(judged "$W/log")" 0
grep -q ' reachable=' "$W/log" || fail "the C library has no reachable block"
rm "$W/log"

LEAKWRAP_OPTIONS="log=$W/log" "$W/clean" pause >"$W/out" &
pid=$!
wait_until "$patience" grep -q waiting "$W/out" || fail "did not start"
"$tool" dump --kinds $pid >"$W/dump" || fail "dump: status $?"
grep -q 'reason=signal' "$W/dump" || fail "no dump on the signal"
grep -q ' kinds .*scanned=copy' "$W/dump" || fail "dump --kinds has no kinds"
wait $pid || fail "idle: status $?"

# -- every format ----------------------------------------------------------------------------------
# At the end 8 lists are lost, of a head with 32 bytes and four nodes each.
build losing tests/tool/kinds.c
LEAKWRAP_OPTIONS="kinds=always:log=$W/series" "$W/losing" 8 || fail "losing: status $?"
LEAKWRAP_OPTIONS="kinds=never:log=$W/untold" "$W/losing" 4 || fail "losing: status $?"
lw=$tool
status_is 0 "$lw" report "$W/series"
equal "what text begins with" "$(sed -n 3,6p "$W/out")" "  definitely lost: 256 bytes in 8 blocks
  indirectly lost: 1,024 bytes in 32 blocks
  possibly lost: 240 bytes in 4 blocks
  still reachable: 8,000 bytes in 8 blocks"
equal "call sites" "$(sed -n 's/^  #[0-9]* //p' "$W/out")" \
	"1,280 bytes (256 direct + 1,024 indirect) in 40 blocks definitely lost, 13.4 %
240 bytes in 4 blocks possibly lost, 2.5 %
1,024 bytes in 32 blocks indirectly lost
8,000 bytes in 8 blocks still reachable, 84.0 %"
shows 'lost memory was found in the process; threads were stopped for'

# One option chooses the kinds in each format. Dumps that do not tell them are left out.
status_is 0 "$lw" report -f folded --show-leak-kinds=definite,indirect "$W/series"
equal "lost stacks" "$(sed 's/.*;main;//' "$W/out")" "lose_list 1280"
status_is 0 "$lw" report -f folded --show-leak-kinds=possible,reachable "$W/series"
equal "other stacks" "$(sed 's/.*;main;//' "$W/out" | sort)" "fill_cache 8000
keep_inner 240"
status_is 0 "$lw" report -f json --last --show-leak-kinds=possible "$W/series"
jq -e '.dumps[0] | .totals.live_bytes == 240 and .shown_kinds == ["possible"] and
	(.call_sites | length) == 1 and .totals.kinds.definite_bytes == 256' "$W/out" >/dev/null ||
	fail "possible: $(cat "$W/out")"
status_is 2 "$lw" report --show-leak-kinds=lost "$W/series"
said "show-leak-kinds=lost: must be some of definite, indirect, possible and reachable, .*or all$"
status_is 2 "$lw" report --show-leak-kinds=all "$W/untold"
said 'no dump tells lost from reachable memory'
status_is 0 "$lw" report --show-leak-kinds=all "$W/untold" "$W/series"
said '5 dumps are left out that do not tell lost from reachable memory'

# A call site may have blocks of several kinds: only the chosen ones are shown, and they make the
# order and the shares.
# mixed NUMBER LOST: prints a dump whose first call site has LOST blocks of 100 bytes, which lead to
# the third.
mixed() {
	printf '%s complete 0x%d 0x40\n' "$(($2 * 100 + 100)) $(($2 + 1))" 10 '500 5' 20 '50 5' 30 |
		make_dump "5.$1" "2026-11-20T18:00:0$1Z" /no/such/program 0x1000 none | sed "
			s|] loss .*|] kinds definite_bytes=$(($2 * 100)) definite_blocks=$2 \
indirect_bytes=50 indirect_blocks=5 possible_bytes=0 possible_blocks=0 \
reachable_bytes=600 reachable_blocks=6|
			/site 1:/s|\$| definite=$(($2 * 100))/$2 indirect=50/5 reachable=100/1|
			/site 2:/s|\$| reachable=500/5|
			/site 3:/s|\$| within=50/5|"
}
mixed 1 9 >"$W/mixed"
status_is 0 "$lw" report --show-leak-kinds=reachable "$W/mixed"
equal "only reachable" "$(grep -e '^  #' -e 'lost:' -e 'still' "$W/out")" \
	"  still reachable: 600 bytes in 6 blocks
  #2 500 bytes in 5 blocks still reachable, 83.3 %
  #1 100 bytes in 1 block still reachable, 16.7 %"
# The number of call sites never counts those without live blocks.
sed '/\] module 1 /i\
leakwrap[5.1] site 4: 0 bytes in 0 blocks, complete allocated_bytes=7 allocated_blocks=1' \
	"$W/mixed" >"$W/freed"
status_is 0 "$lw" report --show-leak-kinds=reachable "$W/freed"
shows '^  600 bytes shown in 6 blocks at 2 call sites$'
status_is 0 "$lw" report --show-leak-kinds=indirect "$W/mixed"
equal "only indirect" "$(grep '^  #' "$W/out")" \
	"  #1 50 bytes in 5 blocks indirectly lost, 100.0 %"
status_is 0 "$lw" report -f json --by=function --show-leak-kinds=reachable "$W/mixed"
jq -e '.dumps[0].call_sites[0].kinds.definite_bytes == 900 and
	([.dumps[0].groups.rows[].kinds.definite_bytes] | add) == 900' "$W/out" >/dev/null ||
	fail "all kinds in json: $(cat "$W/out")"
status_is 0 "$lw" report -f html --show-leak-kinds=reachable "$W/mixed"
shows '"kinds":\[0,0,0,600,0,0,0,6\]'
mixed 2 20 >>"$W/mixed"
status_is 0 "$lw" diff --show-leak-kinds=reachable "$W/mixed@1" "$W/mixed@2"
shows '^  2 call sites did not change$'
shows_not 'lost'
status_is 0 "$lw" report --growth --show-leak-kinds=reachable "$W/mixed"
shows_not 'lost'
status_is 0 "$lw" report --merge --growth --show-leak-kinds=reachable "$W/mixed"
shows_not 'lose'

# A suppression may name kinds: memory of other kinds stays, and so do dumps that tell none.
suppressed() {
	status=$1
	shift
	printf '%s\n' "$@" >"$W/suppressions"
	status_is "$status" "$lw" report --fail-on-leaks --suppressions="$W/suppressions" \
		"$W/series"
}
suppressed 1 'leak[definite]:lose_list'
shows 'of these suppressed: 256 bytes in 8 blocks at 1 call site'
suppressed 1 'leak[possible,reachable]:lose_list' 'leak[possible]:keep_inner'
suppressed 0 'leak[definite]:lose_list' 'leak[possible]:keep_inner'
suppressed 0 'leak[definite,possible]:main'
shows 'still reachable: 8,000 bytes in 8 blocks'
suppressed 2 'leak[lost]:main'
said ':1: a suppression is leak:PATTERN, or leak\[KINDS\]:PATTERN with some of definite, indirect,'
# A call site of which a part is suppressed counts, too.
mixed 1 9 >"$W/part"
echo 'leak[definite]:/no/such/program' >"$W/suppressions"
status_is 0 "$lw" report --suppressions="$W/suppressions" "$W/part"
shows '^  of these suppressed: 900 bytes in 9 blocks at 1 call site$'
shows '^  #1 100 bytes in 1 block still reachable'
status_is 0 "$lw" report -f json --suppressions="$W/suppressions" "$W/part"
jq -e '.dumps[0].suppressed | .live_bytes == 900 and .live_blocks == 9 and .call_sites == 1' \
	"$W/out" >/dev/null || fail "a part in json: $(cat "$W/out")"
status_is 0 "$lw" report -f html --show-leak-kinds=reachable \
	--suppressions="$W/suppressions" "$W/part"
shows ',"bytes":600,"blocks":6,'
# Two suppressions may cover kinds of one call site.
printf 'leak[%s]:/no/such/program\n' definite reachable >"$W/suppressions"
status_is 0 "$lw" report --suppressions="$W/suppressions" "$W/part"
shows '^  of these suppressed: 1,500 bytes in 15 blocks at 2 call sites$'
status_is 0 "$lw" report "$W/untold"
cp "$W/out" "$W/wanted"
printf 'leak[definite]:lose_list\n' >"$W/suppressions"
status_is 0 "$lw" report --suppressions="$W/suppressions" "$W/untold"
diff "$W/wanted" "$W/out" >"$W/differing" || fail "untold: $(cat "$W/differing")"
status_is 2 "$lw" diff --show-leak-kinds=definite "$W/untold" "$W/series"

# A call site cannot have more blocks of some kind than it has.
sed '/site 1:/s/ reachable=[0-9/]*/ reachable=8000\/8 possible=1\/1/' "$W/series" >"$W/damaged"
status_is 0 "$lw" report "$W/damaged"
said 'dump [0-9.]* is damaged: the kinds of a call site are damaged'
# Nor can its kinds have bytes whose sum is 0 only because it has 65 bits.
quarter=4611686018427387904/0
sed "/site 1:/s| reachable=[0-9/]*| definite=$quarter within=$quarter possible=$quarter&|
	s|\(within=$quarter.* reachable=\)[0-9/]*|\1$quarter|" "$W/series" >"$W/damaged"
status_is 0 "$lw" report "$W/damaged"
said 'dump [0-9.]* is damaged: the kinds of a call site are damaged'

# Sums by function, the verdict and suppressions.
status_is 0 "$lw" report --by=function "$W/series"
rows=$(awk 'NF == 0 { t = 0 } t && $3 > 0 { print $NF, $1, $2 }
	$NF == "function" { t = 1 }' "$W/out" | tr '\n' ' ')
equal "by function" "$rows" "lose_list 1,280 0 keep_inner 0 240 make_node 0 0 fill_cache 0 0 "
equal "only possible" "$(judged --leak-kinds=possible "$W/series")" 1
said_by_judge() {
	grep -q "$1" "$W/message" || fail "message: $(cat "$W/message")"
}
said_by_judge ': 240 bytes in 4 blocks are lost$'
equal "all kinds" "$(judged --show-leak-kinds=reachable "$W/series")" 1
said_by_judge ': 1,520 bytes in 44 blocks are lost$'
# The dump of a sample may not know the kinds of its blocks.
sed 's/ reachable=8000\/8//' "$W/series" >"$W/unknown"
equal "unknown kind" "$(judged --leak-kinds=possible "$W/unknown")" 1
said_by_judge ': 8,240 bytes in 12 blocks are lost or of unknown kind$'
status_is 0 "$lw" report "$W/unknown"
shows '^  of unknown kind: 8 blocks$'
# If it knows none, only that is said.
sed -E 's/ (definite|within|possible|reachable)=[0-9\/]+//g
	s/(definite|indirect|possible|reachable)_(bytes|blocks)=[0-9]+/\1_\2=0/g' \
	"$W/series" >"$W/unknown"
status_is 0 "$lw" report "$W/unknown"
shows '^  of unknown kind: [0-9]* blocks$'
equal "kinds of no block" "$(grep -c '^  .*: 0 bytes in 0 blocks' "$W/out")" 0
printf 'leak:lose_list\nleak:keep_inner\n' >"$W/known"
equal "suppressed" "$(judged --suppressions="$W/known" "$W/series")" 0
status_is 0 "$lw" report --last -f json --suppressions="$W/known" "$W/series"
jq -e '.dumps[0] | .suppressed.kinds.indirect_bytes == 1024 and
	.totals.kinds.definite_bytes == 0' "$W/out" >/dev/null || fail "suppressed kinds"

# A call site that loses memory stands before one that gains reachable memory.
status_is 0 "$lw" diff "$W/series@1" "$W/series"
shows '^  indirectly lost: +[0-9,]* bytes: [0-9]* before, 1,024 after$'
equal "diff" "$(grep -o '^      [a-z]*_[a-z]*' "$W/out" | tr -d '\n')" \
	"      lose_list      keep_inner      fill_cache      make_node      lose_list"
shows ' now 1,280 bytes (256 direct + 1,024 indirect) in 40 blocks definitely lost$'
status_is 0 "$lw" diff -f json "$W/series@1" "$W/series"
jq -e '.call_sites[0].new_kinds.indirect_bytes == 1024' "$W/out" >/dev/null || fail "diff, json"
# Reachable memory that is lost in another process has changed, though there is no more of it.
sed 's/^leakwrap\[/&9/; s/ reachable=8000/ definite=8000/' "$W/series" >"$W/lost"
status_is 0 "$lw" diff "$W/series" "$W/lost"
shows '^  kept +0 bytes in +0 blocks, now 8,000 bytes in 8 blocks$'
shows '^      +8,000 bytes, now 8,000 bytes in 8 blocks definitely lost$'
status_is 0 "$lw" report --growth "$W/series"
shows '^  loses [0-9,]* bytes steadily.* to 1,280 bytes (256 direct + 1,024 indirect) in 40 blocks'
equal "growth" "$(grep -o '^      [a-z]*_[a-z]*' "$W/out" | head -n 2 | tr -d '\n')" \
	"      lose_list      fill_cache"
status_is 0 "$lw" report --growth -f json "$W/series"
jq -e '.call_sites[0] | .steady_lost_bytes > 0 and .last_kinds.definite_bytes == 256 and
	.lost_bytes_over_time[-1] == 1280' "$W/out" >/dev/null || fail "growth, json"

# A sum of processes adds up the kinds of those that tell them.
status_is 0 "$lw" report --merge "$W/series" "$W/untold"
shows '^  definitely lost: 256 bytes in 8 blocks$'
shows '^  (1 of 2 processes tell lost from reachable memory)$'
shows '^  #3 .*, 1,280 bytes (256 direct + 1,024 indirect) in 40 blocks definitely lost, in 2 of 2 '
status_is 0 "$lw" report --merge --growth "$W/series"
equal "growth of a sum" "$(grep -o '^      [a-z]*_[a-z]*' "$W/out" | head -n 1)" "      lose_list"
# A call site may lose memory while it shrinks.
mixed 1 9 | sed 's/ definite=[^ ]* indirect=[^ ]*/ reachable=900\/9/' >"$W/shrinking"
mixed 2 8 >>"$W/shrinking"
status_is 0 "$lw" report --merge --growth "$W/shrinking"
shows '^      loses 850 bytes steadily$'
shows '^      shrank by 100 bytes in all, grew in 0 of 1 process$'

# A lost block has the weight that valgrind gives it.
if command -v valgrind >/dev/null; then
	build_plain plain tests/reach/shapes.c
	LEAKWRAP_OPTIONS="log=$W/cycles" "$W/program" cycles || fail "cycles: status $?"
	status_is 0 "$lw" report --top=0 "$W/cycles"
	weights='s/.* \([0-9,]* bytes\) (\([0-9,]* direct\) + \([0-9,]* indirect\)) in .* lost.*/'
	weights="$weights\\1 \\2 \\3/p"
	valgrind --leak-check=full --leak-resolution=high --num-callers=40 "$W/plain" cycles 2>&1 |
		sed -n 's/ (\(.* direct\), \(.* indirect\)) bytes/ bytes (\1 + \2)/p' |
		sed -n "$weights" | sort >"$W/wanted"
	equal "weights" "$(sed -n "$weights" "$W/out" | sort)" "$(cat "$W/wanted")"
	equal "weights of valgrind" "$(wc -l <"$W/wanted")" 2
fi

command -v go >/dev/null || skip "go is not installed"
export HOME="$W" GOCACHE="$W/cache" GOFLAGS=-mod=mod PPROF_TMPDIR="$W"
status_is 0 "$lw" report -f pprof -o "$W/profile" "$W/series"
go tool pprof -top -tagfocus=kind=definite "$W/profile" >"$W/out" 2>"$W/err" || fail "pprof"
shows '^ *256B .* lose_list$'
shows_not fill_cache
# An indirectly lost block counts at its own call site, unless only what is lost is shown.
go tool pprof -top -tagfocus=kind=indirect "$W/profile" >"$W/out" 2>"$W/err" || fail "pprof"
shows '^ *1kB .* make_node$'
status_is 0 "$lw" report -f pprof -o "$W/profile" --show-leak-kinds=definite,indirect "$W/series"
go tool pprof -top -tagfocus=kind=indirect "$W/profile" >"$W/out" 2>"$W/err" || fail "pprof"
shows '^ *1kB .* lose_list$'
shows_not make_node
