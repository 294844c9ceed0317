#!/bin/sh
# On 32-bit ARM with soft float every call site is found, in ARM and Thumb code, by gcc and clang.
# timeout: 300
. tests/lib.sh
. tests/targets/target.sh
. tests/targets/arm.sh

arm arm-linux-gnueabi

# The compiler may make Thumb-1 code by default.
runtime "$triple-thumb" CC="$gcc -mthumb"
program "$gcc" -mthumb -funwind-tables
vendor "$gcc" -mthumb -funwind-tables
for how in "" -static; do
	# shellcheck disable=SC2086
	relink "$gcc" -mthumb $how
	everything "Thumb-1, $how"
done
echo "and with a runtime for Thumb-1"
