#!/bin/sh
# On 32-bit ARM with soft float every call site is found, in ARM and Thumb code, by gcc and clang.
# timeout: 300
. tests/lib.sh
. tests/targets/target.sh
. tests/targets/arm.sh

arm arm-linux-gnueabi

# The compiler may make Thumb-1 code by default. The runtime is the same ARM code then.
thumb=$O/targets/$triple-thumb
for object in entry/malloc/malloc.o wrap/record/allocate.o wrap/unwind/walk_rules.o; do
	make -s O="$thumb" CC="$gcc -mthumb" DEBUG_INFO= WERROR=-Werror "$thumb/$object" \
		>"$W/make" 2>&1 || fail "Thumb-1: $(tail -n 5 "$W/make")"
	cmp "$O/targets/$triple/$object" "$thumb/$object" || fail "Thumb-1: $object is other code"
done
echo "and with a runtime for Thumb-1"
