#!/bin/sh
# A vendor's pools are wrapped without an operating system, by make and the board's compiler alone.
#
# Default options are given in the same way.
# timeout: 200
. tests/lib.sh
. tests/bare/board.sh

# Prints "BYTES BLOCKS FUNCTION TEXT" for each leak. TEXT is in the leak's line of pool.c.
expected() {
	cat <<'END'
13 1 by_malloc malloc(13)
150 3 by_pool vendor_alloc(NULL, 50)
32 1 by_message /* the first */
32 1 by_message /* the second */
END
}
expected | while read -r bytes blocks function text; do
	line=$(grep -n -F "$text" tests/bare/pool.c | head -n 1 | cut -d : -f 1)
	echo "$bytes $blocks $function pool.c:$line"
done | sort >"$W/wanted"

for board in $boards; do
	board_runtime "$board"
	cat >"$W/Makefile" <<END
CC := arm-none-eabi-gcc
LEAKWRAP_LIB := $O/bare/$board/libleakwrap.a
LEAKWRAP_ALLOCATORS := malloc=vendor_alloc(pool,uint16_t:size) free=vendor_free(pool,block)
LEAKWRAP_ALLOCATORS += malloc=vendor_message(size=32)
LEAKWRAP_DEFAULT_OPTIONS := depth=9
LEAKWRAP_LINK := link-$board
include $PWD/linker-flags.mk
all: \$(LEAKWRAP_LINK_LIB)
END
	(cd "$W" && make -s all >make.out 2>&1) ||
		fail "$board: $(cat "$W/make.out")"
	board_build "$board" pool tests/bare/pool.c tests/bare/vendor_pool.c \
		"@$W/link-$board.flags" "$W/link-$board.a"
	board_run "$board" pool "$W/log" || fail "$board: status $?: $(tail -n 5 "$W/log")"
	board_sites pool."$board" "$W/log" | sed 's/^\([0-9]* [0-9]*\) [a-z]*/\1/' >"$W/sites"
	diff "$W/wanted" "$W/sites" >"$W/difference" ||
		fail "$board: wanted (<), got (>): $(cat "$W/difference")"
	equal "$board: foreign frees" "$(dump_value "$W/log" 1 foreign_frees)" 0
	! grep -q "cannot be used" "$W/log" || fail "$board: $(grep "cannot be used" "$W/log")"
done
sed 's/depth=9/unwind=fp/' "$W/Makefile" >"$W/Makefile.2"
(cd "$W" && make -s -f Makefile.2 all >make.out 2>&1) &&
	fail "unwind= is not refused"
grep -qx "leakwrap: options: there is no option 'unwind'.*" "$W/make.out" ||
	fail "$(cat "$W/make.out")"
