#!/bin/sh
# The C API dumps, counts, switches recording, ignores blocks, records a pool, takes backtraces.
#
# No function changes errno. A program that refers to the functions weakly finds them if it is
# traced.
. tests/lib.sh

for static in '' -static; do
	build "api$static" $static tests/alloc/public_api.c
	LEAKWRAP_OPTIONS=libraries=0 \
		"$W/api$static" "$W/dump$static" >"$W/out$static" 2>"$W/log$static" ||
		fail "status $?"
	diff - "$W/out$static" <<-END || fail "the answers$static"
		ignore: 0, inside a block: -1
		backtrace: 3
		return address: 1 1 1
		dump: 0
		still open: 1
		dump to a closed descriptor: -1
		dump to the log: 0
		$(sed -n 's/^counters: .*/&/p' "$W/out$static")
		foreign frees: 0
		errno 77
	END
	for dump in "$W/dump$static 1" "$W/log$static 3"; do
		# shellcheck disable=SC2086 # file and number
		set -- $dump
		equal "reason$static" "$(dump_value "$1" "$2" reason)" api
		equal "seen$static" "$(site_by "$1" "$2" seen)" "10 1"
		equal "unseen$static" "$(site_by "$1" "$2" unseen)" "0 0"
		equal "ignored$static" "$(site_by "$1" "$2" ignored)" "0 0"
		equal "from the pool$static" "$(site_by "$1" "$2" from_pool)" "1000 2"
	done
	# The C library of the dynamic program is not traced: the counters hold the program's
	# blocks alone.
	[ -n "$static" ] || equal "counters" "$(sed -n 's/^counters: //p' "$W/out")" "1010 3 3 1"
	equal "the exit dump$static" "$(dump_value "$W/log$static" 4 reason)" exit
done

# The program itself defines leakwrap_default_options.
sed -n 's/^LEAKWRAP_API .*\(leakwrap_[a-z_]*\)(.*/\1/p' wrap/leakwrap.h |
	grep -v default_options >"$W/functions"
{
	printf '#include "leakwrap.h"\n#include <stdlib.h>\n'
	sed 's/.*/extern __typeof__(&) & __attribute__((weak));/' "$W/functions"
	echo 'int main(void) { volatile int found = 0; free(malloc(1));'
	sed 's/.*/if (&) found++;/' "$W/functions"
	echo 'return found; }'
} >"$W/weak.c"
build_plain weak.plain "$W/weak.c"
"$W/weak.plain"
equal "functions in an untraced program" $? 0
build weak "$W/weak.c"
build weak.static -static "$W/weak.c"
# shellcheck disable=SC2086 # a list of flags
$CC $CFLAGS_FOR_TESTS -o "$W/weak.few" "$W/weak.c" -Wl,--wrap=malloc,--wrap=free \
	"$O/libleakwrap.a" || fail "cannot build weak.few"
for program in weak weak.static weak.few; do
	LEAKWRAP_OPTIONS=exit=0 "$W/$program"
	equal "functions in $program" $? "$(wc -l <"$W/functions")"
done
