#!/bin/sh
# A report sums live blocks by function, file, module, and archive member, from each linker's map.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh

cat >"$W/ble.c" <<'END'
#include <stdlib.h>
void *ble(size_t size);
static void *__attribute__((noinline)) pool(size_t size) { return malloc(size); }
void *ble(size_t size) { void *p = pool(size); __asm__ volatile("" ::"r"(p)); return p; }
END
cat >"$W/main.c" <<'END'
#include <stdlib.h>
void *ble(size_t size);
void *volatile kept;
int main(void)
{
	for (volatile int i = 0; i < 5; i++) /* one call, not five */
		kept = ble(100);
	kept = malloc(50);
	return 0;
}
END
flags="-O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls"
# shellcheck disable=SC2086 # flags
$CC $flags -ffunction-sections -c -o "$W/ble.o" "$W/ble.c" || fail "cannot build"
ar rcs "$W/vendor.a" "$W/ble.o" || fail "cannot build"
# row NAME: prints bytes, blocks and call sites of the row NAME.
row() {
	awk -v name="$1" '
		$NF == name && $1 != "command:" {
			gsub(",", "")
			print $(NF - 4), $(NF - 3), $(NF - 2)
		}' "$W/out"
}

tried=
for linker in bfd gold lld mold; do
	[ $linker = lld ] && more=LEAKWRAP_LLD_LDFLAGS || more=
	for static in "" -static; do
		# shellcheck disable=SC2046,SC2086 # flags
		$CC -g $flags -fuse-ld=$linker $static -o "$W/app" "$W/main.c" "$W/vendor.a" \
			$(leakwrap_flags LEAKWRAP_LDFLAGS $more \
				LEAKWRAP_LDLIBS) \
			-Wl,-Map="$W/map" >"$W/ld" 2>&1 || {
			echo "left out: $linker $static: $(head -n 1 "$W/ld")"
			continue
		}
		LEAKWRAP_OPTIONS=log="$W/log" "$W/app" || fail "app"
		status_is 0 "$lw" report --by=member --map="$W/map" "$W/log"
		! grep "linker's map" "$W/err" || fail "$linker $static"
		equal "$linker $static: vendor.a(ble.o)" "$(row 'vendor.a(ble.o)')" "500 5 1"
		# Without a map, members come from the file symbols, if they can be trusted. No row
		# has another member's name.
		status_is 0 "$lw" report --by=member "$W/log"
		case $linker$static in
		bfd* | gold | lld) equal "$linker $static: ble.c" "$(row ble.c)" "500 5 1" ;;
		*) shows_not 'ble\.c' ;;
		esac
		shows_not 'entry_\|crtstuff'
		status_is 0 "$lw" report --by=function "$W/log"
		equal "$linker $static: pool" "$(row pool)" "500 5 1"
		tried="$tried $linker$static"
		rm "$W/log"
	done
done
[ -n "$tried" ] || fail "no linker worked"
echo "linkers:$tried"

# The tool does not use the map of another build.
build app "$W/main.c" "$W/vendor.a"
LEAKWRAP_OPTIONS=log="$W/log" "$W/app" || fail app
status_is 0 "$lw" report --by=member --map="$W/map" "$W/log"
said "is not the linker's map of this program"

status_is 0 "$lw" report --by=module "$W/log"
equal "module" "$(row "$W/app")" "550 6 2"
status_is 0 "$lw" report --by=file "$W/log"
equal "file" "$(row "$W/main.c")" "50 1 1"
# All bytes go through main. Its row has its own bytes alone.
status_is 0 "$lw" report --by=function "$W/log"
equal "through main" "$(awk '$NF == "main" { print $(NF - 1) }' "$W/out")" 550
status_is 2 "$lw" report --by=moon "$W/log"

# One backtrace in two tasks makes two call sites.
printf '100 2 complete 0x10 0x20\n50 1 complete 0x10 0x20\n' |
	make_dump 3.1 2026-11-20T18:00:00Z /x/y 0x1000 none |
	sed '/site 1/s/$/ task=rx/; /site 2/s/$/ task=tx/' >"$W/tasks"
status_is 0 "$lw" report --by=module "$W/tasks"
equal "two tasks" "$(row /x/y)" "150 3 2"
equal "through two tasks" "$(awk '$NF == "/x/y" { print $4 }' "$W/out")" 150
