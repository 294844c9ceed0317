#!/bin/sh
# linker-flags.mk and the archive agree about the wrapped symbols.
#
# Every listed symbol has one member, which defines its wrapper and no other wrapper. No other
# wrapper exists. No original is weak. Only wrappers and the public interface can be seen from
# outside.
. tests/lib.sh

LC_ALL=C
export LC_ALL
lib=$O/libleakwrap.a

leakwrap_flags LEAKWRAP_SYMBOLS | tr ' ' '\n' | sort >"$W/listed"
[ "$(wc -l <"$W/listed")" -gt 50 ] || fail "the list is implausibly short: $(wc -l <"$W/listed")"
equal "symbols listed twice" "$(uniq -d "$W/listed")" ""

sed 's/^/-Wl,--wrap=/' "$W/listed" | sort >"$W/wanted"
leakwrap_flags LEAKWRAP_LDFLAGS | tr ' ' '\n' | grep -e --wrap | sort >"$W/flags"
diff "$W/wanted" "$W/flags" >"$W/difference" || fail "LEAKWRAP_LDFLAGS: $(cat "$W/difference")"

# Each line: member, value, type, symbol.
"${CROSS_COMPILE}nm" -A -g "$lib" |
	sed 's/^[^ ]*[:\[]\([^]:]*\.o\)[]:]*:/\1 /' >"$W/symbols"

awk 'NF >= 4 && $4 ~ /^__wrap_/ { print substr($4, 8) }' "$W/symbols" | sort >"$W/defined"
diff "$W/listed" "$W/defined" >"$W/difference" ||
	fail "listed (<) and defined (>): $(cat "$W/difference")"

awk 'NF >= 4 && $4 ~ /^__wrap_/ { print $1 }' "$W/symbols" | sort | uniq -d >"$W/crowded"
equal "members with several wrappers" "$(cat "$W/crowded")" ""

# These members compare addresses of originals, and call none. cfree must link where the C library
# lacks it.
comparing='^(misuse|heap_allocator|originals).o$'
awk -v comparing="$comparing" '
	$1 !~ comparing && $NF != "__real_cfree" &&
	$(NF - 1) ~ /[wvWV]/ && $NF ~ /^__real_/' "$W/symbols" >"$W/weak"
equal "weak originals" "$(cat "$W/weak")" ""

# A wrapper refers to its own original only. Nothing else refers to an original.
awk 'NF >= 4 && $4 ~ /^__wrap_/ { wraps[$1] = substr($4, 8) }
	$1 != "misuse.o" && $(NF - 1) == "U" && $NF ~ /^__real_/ { reals[$1 " " substr($NF, 8)] }
	END {
		for (r in reals) {
			split(r, a, " ")
			if (wraps[a[1]] != a[2])
				print r
		}
	}' "$W/symbols" >"$W/foreign"
equal "references to another's original" "$(cat "$W/foreign")" ""

# Names that members share are wrappers or begin with leakwrap_. Names in a program's dynamic symbol
# table are wrappers or declared in the public header. The hooks of -finstrument-functions have a
# member of their own, and so has the symbol of the compiler's start files.
# For i386 the compiler adds hidden functions to each object, of which the linker keeps one.
awk 'NF >= 4 && $4 !~ /^(__wrap|leakwrap)_/ &&
	!($1 == "cyg_profile.o" && $4 ~ /^__cyg_profile_func_(enter|exit)$/) &&
	!($1 == "dso_handle.o" && $4 == "__dso_handle") &&
	$4 !~ /^__x86\.get_pc_thunk\./ {
	print $1, $4 }' "$W/symbols" >"$W/others"
equal "global names that are neither __wrap_ nor leakwrap_" "$(cat "$W/others")" ""

if [ -f wrap/leakwrap.h ]; then
	"${CROSS_COMPILE}readelf" -sW "$lib" |
		awk '($5 == "GLOBAL" || $5 == "WEAK") && $6 == "DEFAULT" && $7 != "UND" {
			print $8
		}' |
		grep '^leakwrap_' | sort -u >"$W/visible"
	while read -r symbol; do
		grep -qw "$symbol" wrap/leakwrap.h ||
			fail "$symbol is visible, but not in wrap/leakwrap.h"
	done <"$W/visible"
fi
