#!/bin/sh
# leakwrap top shows on a terminal what running programs hold and what grows. It fits 80 columns,
# obeys keys, and leaves the terminal as it was.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh
. tests/tool/live.sh
need tmux
"$lw" top </dev/null 2>&1 | grep -q 'without ncurses' && skip "built without ncurses"
status_is 2 "$lw" top </dev/null
said 'top needs a terminal'

build ascending tests/tool/grows.c
start_growing ascending 3000
first=$pid

tmux() {
	command tmux -S "$W/tmux" -f /dev/null "$@"
}
trap 'tmux kill-server 2>/dev/null; for one in $started; do kill -9 $one 2>/dev/null; done' EXIT
# screen_has PATTERN: waits until a line of the screen has the pattern.
screen_has() {
	has() {
		tmux capture-pane -p >"$W/out" 2>/dev/null && grep -q -e "$1" "$W/out"
	}
	wait_until "$patience" has "$1" || fail "the screen has no '$1': $(cat "$W/out")"
}
# screen_has_not PATTERN: waits until no line has it: a screen may be captured while it is drawn.
screen_has_not() {
	lacks() {
		tmux capture-pane -p >"$W/out" 2>/dev/null && ! grep -q -e "$1" "$W/out"
	}
	wait_until "$patience" lacks "$1" || fail "the screen has '$1': $(cat "$W/out")"
}
fits() {
	awk -v most="$1" 'length($0) > most' "$W/out" | grep . && fail "wider than $1 columns"
	return 0
}
cd "$W" || exit 2
tmux new-session -d -x 80 -y 24 "TERM=screen LC_ALL=C.UTF-8 sh" || skip "tmux does not run here"
cd - >/dev/null || exit 2
tmux send-keys "stty -a >before; echo first" Enter
tmux send-keys "$lw top --interval=1 ascending; stty -a >after; echo back" Enter
screen_has "^process $first ascending"
screen_has ' live in .* blocks  a dump takes .* ms, one every 1 s'
screen_has '+[0-9.]* KiB/s .*▁.*keep_growing  grows.c:16'
screen_has '4.88 KiB .*keep_steady'
screen_has 'by call site, most bytes first'

# The stack of the first row. Then the rows are functions, modules, and call sites again.
tmux send-keys Enter
screen_has '^      main .*grows.c:[0-9]*'
tmux send-keys Enter g
screen_has 'by function,'
screen_has '> *keep_growing$\|>keep_growing$'
tmux send-keys g g
screen_has 'by module,'
screen_has '/ascending$'
tmux send-keys g g
screen_has 'by call site'
tmux send-keys s
screen_has 'most growth first'

# A filter, a mark after which only growth is shown, and a frozen screen.
tmux send-keys / s t e a d y Enter
screen_has 'filter steady'
screen_has keep_steady
screen_has_not keep_growing
tmux send-keys / Enter
screen_has keep_growing
tmux send-keys b
screen_has 'grown since the mark'
screen_has 'GREW .*BLOCKS'
screen_has keep_growing
screen_has_not keep_steady
tmux send-keys b Space
screen_has frozen
frozen=$(dumps "$W/$first.log" | wc -l)
sleep 2
[ "$(dumps "$W/$first.log" | wc -l)" -le $((frozen + 1)) ] || fail "a frozen screen asks"
tmux send-keys Space h
screen_has 'write the dumps that are shown'
tmux send-keys h w
screen_has 'leakwrap-0-1.log has the dumps'
"$lw" report "$W/leakwrap-0-1.log" >"$W/out" || fail "the file has no dump"
shows keep_growing

# Two processes are added up, and each can be looked at alone.
start_growing ascending
second=$pid
screen_has '^2 processes ascending'
tmux send-keys p
screen_has "^process $first "
tmux send-keys p
screen_has "^process $pid "
tmux send-keys p
screen_has '^2 processes'
tmux send-keys q
screen_has '^back$'
cp "$W/ascending" "$W/other"
start_growing other
tmux send-keys "clear; $lw top --interval=1 --kinds ascending other; echo back" Enter
screen_has '^3 processes of several programs'
kill -9 "$pid"
screen_has '^2 processes ascending'
pid=$second

for columns in 40 120; do
	tmux resize-window -x $columns -y 20
	screen_has '^ *[0-9.]* .* [KM]iB '
	sleep 0.5
	screen_has processes
	fits $columns
done
screen_has ' LOST *POSSIBLY *REACHABLE *BYTES '
screen_has ' lost, .* live in '
screen_has ' 0 bytes  *0 bytes  *[0-9.]* [KM]iB .*keep_growing'

# A process that ends is gone. The terminal is as it was.
kill -9 "$pid"
screen_has "^process $first "
tmux send-keys q
screen_has '^back$'
grep -q echo "$W/before" || fail "no stty"
sed 's/columns [0-9]*//; s/rows [0-9]*//' "$W/before" >"$W/before.modes"
sed 's/columns [0-9]*//; s/rows [0-9]*//' "$W/after" >"$W/after.modes"
cmp -s "$W/before.modes" "$W/after.modes" || fail "the terminal has other modes"

# With 16,384 call sites top asks less often: reading a dump takes its time.
cp "$W/ascending" "$W/wide"
start_growing wide 16 14
tmux send-keys "clear; $lw top --interval=1 wide; echo back" Enter
screen_has '^process .* wide'
screen_has ' one every \([2-9]\|[1-9][0-9]\) s'
kill -9 "$pid"
screen_has "^process $pid wide has ended"
tmux send-keys q
screen_has '^back$'

# A file that cannot be written whole is not left, and the message says why.
tmux send-keys "clear; (trap '' XFSZ; ulimit -f 1; $lw top --interval=1 ascending); echo back" \
	Enter
screen_has "^process $first "
screen_has keep_growing
tmux send-keys p w
screen_has "^leakwrap-$first-1.log: File too large"
[ ! -e "$W/leakwrap-$first-1.log" ] || fail "a cut file is left"
# At its end top throws away what was typed meanwhile.
tmux send-keys q
screen_has '^back$'

# A terminal that cannot place its cursor has no screen.
tmux send-keys "clear; TERM=dumb $lw top --interval=1 ascending; echo status \$?" Enter
screen_has '^leakwrap: the terminal dumb cannot place its cursor, which top needs'
screen_has '^status 2$'

# Without UTF-8 and colour.
tmux send-keys "clear; TERM=vt100 LC_ALL=C $lw top --interval=1 ascending" Enter
screen_has '_.*[ >]keep_growing'
tmux send-keys C-c
