#!/bin/sh
# operator new calls malloc: that is one allocation. Its stack is walked once, each block is
# recorded once, whatever the program's own operators and handlers allocate meanwhile.
. tests/lib.sh

# build_cxx NAME LIBRARIES FLAG...
build_cxx() {
	name=$1 libraries=$2
	shift 2
	# shellcheck disable=SC2046 # lists of flags
	$(cxx_of "$CC") -std=gnu++17 -O1 -g -Wall -Wextra -Werror -I. -Iwrap -fno-builtin \
		-fno-optimize-sibling-calls -o "$W/$name" "$@" tests/alloc/new_calls_malloc.cpp \
		$(leakwrap_flags LEAKWRAP_LDFLAGS "$libraries") || fail "cannot build $name"
}

# runs NAME PART BLOCKS BYTES: all that stays was allocated below main, but for the unwinder's
# table, which a static program makes at its first throw.
runs() {
	name=$1 part=$2
	# shellcheck disable=SC2086 # a part and its argument
	"$W/$name" $part >"$W/out" 2>"$W/log" || fail "$name $part: status $?"
	all=$(site_through "$W/log" 1 main) table=$(site_through "$W/log" 1 _Unwind_Find_FDE)
	equal "$name $part: bytes" $((${all% *} - ${table% *})) "$4"
	equal "$name $part: blocks" $((${all#* } - ${table#* })) "$3"
	for loss in untracked_blocks lost_call_sites freed_elsewhere_blocks foreign_frees; do
		equal "$name $part: $loss" "$(dump_value "$W/log" 1 $loss)" 0
	done
}

string=$((16 + 2 * $(getconf LONG_BIT) / 8)) # sizeof(std::string)
bytes=$((4 * (40 + 41 + 42 + 43 + 44 + 45 + 0 + 5000)))
for linked in dynamic program static; do
	flags='' texts=40 # texts: 40 std::strings, whose 101 bytes the library allocates
	case $linked in
	dynamic) libraries=LEAKWRAP_CXX_LDLIBS ;;
	program) libraries=LEAKWRAP_PROGRAM_CXX_LDLIBS texts=0 ;;
	static) libraries=LEAKWRAP_CXX_LDLIBS flags=-static ;;
	esac
	# shellcheck disable=SC2086 # may be empty
	build_cxx $linked $libraries $flags
	runs $linked forms 32 "$bytes"
	runs $linked "stacks 1000" 1000 16000
	# In a static program, malloc cannot tell whose operator new calls it, and walks, too.
	walks=$(cat "$W/out")
	echo "$linked: $walks walks of 1000 stacks"
	[ "$linked" = static ] || [ "$walks" -le 1100 ] || fail "$linked: $walks walks"
	"$W/$linked" switched >"$W/out" 2>"$W/log" || fail "$linked switched: status $?"
	equal "$linked switched: blocks" "$(cat "$W/out")" 20
	runs $linked handler 60 $((30 * (33 + 34)))

	# The program's operators leave a note of 24 bytes for each block.
	runs $linked throws $((40 + texts)) $((40 * string + texts * 101))
	# shellcheck disable=SC2086 # may be empty
	build_cxx own-$linked $libraries $flags -DOWN_NEW
	runs own-$linked forms $((32 + 6 * 200)) $((bytes + 24 * 6 * 200))
done
