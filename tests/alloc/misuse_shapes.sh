#!/bin/sh
# misuse= reports each certain release of what is no block, in 378 shapes, and no correct release.
# timeout: 300
. tests/lib.sh

# check PROGRAM LINKED ARGUMENT...
check() {
	label="$*" program=$1 linked=$2
	shift 2
	rm -f "$W/log"
	LEAKWRAP_OPTIONS=misuse=report:exit=0:log="$W/log" "$W/$program" "$@" \
		>"$W/shapes" 2>"$W/err" || fail "$label: status $?"
	awk -v linked="$linked" '
		NR == FNR {
			if ($2 != "misuse" || $3 !~ /_|mismatch/) next
			split($1, id, /[[.]/)
			told[id[2]] = told[id[2]] $3
			next
		}
		{
			wanted = $2 == "STACK" || $2 == "ALLOCA" ? "stack_pointer" \
				: $2 == "HEAP" || ($2 == "INSIDE" && linked == "program") ? "" \
				: $2 == "INSIDE" ? "interior_pointer" : "static_pointer"
			if (told[$1] != wanted || ($2 == "HEAP" && $6 != 0))
				print $2, $3, $4, $5 ": told \"" told[$1] "\", wanted \"" wanted \
					"\", status " $6
			count++
		}
		END { if (count != 378) print count " shapes" }' "$W/log" "$W/shapes" >"$W/wrong"
	[ ! -s "$W/wrong" ] ||
		fail "$label: $(wc -l <"$W/wrong") are wrong: $(head -n 10 "$W/wrong")"
}

while read -r cxx how; do
	linked=process libraries=LEAKWRAP_CXX_LDLIBS
	case $how in
	*-static*) linked=static ;;
	*no-pie*) linked=program libraries=LEAKWRAP_PROGRAM_CXX_LDLIBS ;;
	esac
	# shellcheck disable=SC2046,SC2086 # lists of flags
	$cxx -std=c++17 -g -w -I. $how -o "$W/shapes_program" tests/alloc/misuse_shapes.cpp \
		$(leakwrap_flags LEAKWRAP_LDFLAGS $libraries) -pthread ||
		fail "cannot build with $cxx $how"
	check shapes_program "$linked"
	check shapes_program "$linked" thread
done <<-END
	g++ -O0 -fPIE -pie
	g++ -O2 -fno-pie -no-pie
	g++ -O2 -static
	clang++ -O2 -fPIE -pie
END
