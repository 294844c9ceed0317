#!/bin/sh
# Calls past the wrap do no harm in a dynamic program that is linked for its own calls alone.
#
# A library that other code loaded is known after the program's next dlopen. A block that sscanf
# allocated counts as foreign when the program frees it. In a static program, the wrap sees all
# calls, and blocks of the C library are marked.
. tests/lib.sh

for part in LIBRARY PLUGIN; do
	$CC -O2 -I. -fPIC -shared -fno-omit-frame-pointer -D$part -o "$W/$part.so" \
		tests/alloc/calls_past_the_wrap.c || fail "cannot build $part"
done
build_program_only outside tests/alloc/calls_past_the_wrap.c
"$W/outside" "$W/LIBRARY.so" "$W/PLUGIN.so" 2>"$W/log" || fail "status $?"
kind_of() {
	dump_sites "$W/log" 1 | awk -v f="^$1;" '$4 ~ f { print $3, $4 }'
}
case $(kind_of early) in
"guessed early;"*";main;"*) ;;
*) fail "before: $(kind_of early)" ;;
esac
case $(kind_of late) in
"complete late;"*";main;"*) ;;
*) fail "after: $(kind_of late)" ;;
esac
grep -q '  #1 .* PLUGIN.so+0x' "$W/log" || fail "after: the plugin is not in the stack"
equal "foreign frees" "$(dump_value "$W/log" 1 foreign_frees)" 1
! grep -q origin= "$W/log" || fail "a dynamic program has blocks of the C library"

# The mark does not depend on how the linker sorts the code.
for sorted in "" "-Os -Wl,--sort-section=alignment" \
	"-ffunction-sections -Wl,--sort-section=name"; do
	# shellcheck disable=SC2086 # a list of flags
	build outside.static -static $sorted tests/alloc/calls_past_the_wrap.c 2>"$W/warnings"
	"$W/outside.static" 2>"$W/log" || fail "static $sorted: status $?"
	equal "static $sorted: foreign frees" "$(dump_value "$W/log" 1 foreign_frees)" 0
	dump_lines "$W/log" 1 | awk '
		/^site/ { marked = / origin=system_library$/; sites++; next }
		/^  #0 / && marked != ($3 !~ /^(main|scans)\+/) { print; exit 1 }
		END { exit sites == 0 }' || fail "static $sorted: wrongly marked: $(cat "$W/log")"
done
