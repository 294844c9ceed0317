#!/bin/sh
# At each call of a C++ program the report has the files and lines that addr2line has, inlined
# functions included, whatever form of debug information the compiler wrote.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh
need addr2line jq objdump

mkdir "$W/near" "$W/far"
cat >"$W/far/shelf.h" <<'CPP'
extern "C" void *malloc(unsigned long);
extern void *volatile kept;
void *other(unsigned long size);
#define APART __attribute__((noinline))
#define INLINE static inline __attribute__((always_inline))
namespace shop
{
INLINE void keep_block(unsigned long size)
{
	volatile unsigned long room = size;
	kept = malloc(room);
}
INLINE void keep(unsigned long size)
{
	if (size > 3) {
		volatile unsigned long room = size;
		keep_block(room);
	}
}
template <typename Item> struct shelf {
	struct place {
		APART void fill(unsigned long size) { keep(size + sizeof(Item)); }
	};
	APART void grow(unsigned long size)
	{
		place().fill(size);
		keep(size);
		kept = nullptr;
	}
};
} // namespace shop
CPP
cat >"$W/near/one.cpp" <<'CPP'
#include "shelf.h"
void *volatile kept;
namespace shop
{
APART void fill(unsigned long size)
{
	keep(size);
	kept = nullptr;
}
} // namespace shop
APART void local(unsigned long size)
{
	struct counter {
		APART void count(unsigned long n)
		{
			shop::keep(n);
			kept = nullptr;
		}
	};
	try {
		if (size) {
			counter().count(size);
			kept = other(size);
		}
	} catch (...) {
		shop::keep(size);
		kept = nullptr;
	}
}
int main(int argc, char **)
{
	shop::fill(argc);
	shop::shelf<long>().grow(5);
	local(9);
	return 0;
}
CPP
cat >"$W/near/two.cpp" <<'CPP'
#include "shelf.h"
#line 100 "made/a_generator.y"
INLINE void *get(unsigned long size)
{
	if (size > 100)
		throw 1;
	return malloc(size);
}
#line 7 "two.cpp"
void *other(unsigned long size)
{
	void *volatile block = get(size);
	return block;
}
CPP

# compile SOURCE FLAG...
cxx=$(cxx_of "$CC")
compile() {
	source=$1
	shift
	(cd "$W/near" && $cxx -O2 -fno-optimize-sibling-calls "$@" -I"$W/far" "$source") ||
		fail "cannot compile $source $*"
}
link() {
	$cxx -Wl,--build-id -o "$W/app" "$W/near/one.o" "$W/near/two.o" || fail "cannot link"
	objdump -d --no-show-raw-insn "$W/app" | awk '
		found && $1 ~ /:$/ { sub(/:$/, "", $1); print "8 1 complete 0x" $1 }
		{ found = 0 }
		$2 ~ /^(call|bl|jalr?)q?$/ { found = 1 }' >"$W/calls"
	make_dump 5.1 2026-11-20T18:36:01Z "$W/app" 0x55d0c8a00000 "$(build_id "$W/app")" \
		<"$W/calls" >"$W/log"
}
# looks_right FORM: the report has the places of $W/wanted, and each function's whole name. Some
# compilers have the short name alone of inlined functions.
looks_right() {
	status_is 0 "$lw" report -f json "$W/log"
	[ ! -s "$W/err" ] || fail "$1: $(cat "$W/err")"
	jq -r '.dumps[0].call_sites | sort_by(.frames[0].offset)[].frames |
		select(.[0].line) | .[] | "\(.offset) \(.file):\(.line) " + if .inlined
		then (.function | sub("\\(.*"; "") | sub(".*::"; "")) + "*" else .function end' \
		"$W/out" >"$W/frames"
	awk '{ print $1, $2 }' "$W/frames" >"$W/got"
	diff "$W/wanted" "$W/got" >"$W/diff" || fail "$1: $(cat "$W/diff")"
	for function in 'shelf.h:11 keep_block\*' 'shelf.h:17 keep\*' \
		'one.cpp:7 shop::fill(unsigned long)' \
		'shelf.h:22 shop::shelf<long>::place::fill(unsigned long)' \
		'shelf.h:26 shop::shelf<long>::grow(unsigned long)' \
		'a_generator.y:104 get\*' 'two.cpp:9 other(unsigned long)'; do
		grep -q "/$function\$" "$W/frames" || fail "$1: no $function: $(cat "$W/frames")"
	done
}

# addr2line reads some of the files' numbers in clang's DWARF 5 wrongly.
compile one.cpp -gdwarf-4 -c
compile two.cpp -gdwarf-4 -c
link
while read -r _ _ _ offset; do
	echo "at $offset"
	addr2line -i -e "$W/app" "$(add "$offset" -1)" | sed 's/ (discriminator.*//'
done <"$W/calls" | awk '$1 == "at" { offset = $2; next } /:[1-9]/ { print offset, $0 }' |
	sort >"$W/wanted"
[ "$(wc -l <"$W/wanted")" -ge 20 ] || fail "too few lines: $(cat "$W/wanted")"
looks_right "as addr2line"

# An old form, in which a full name has another attribute. The code is the same.
compile one.cpp -gdwarf-3 -gstrict-dwarf -c
link
looks_right "DWARF 3"

# Functions in files of their own, which have their own tables of source files.
compile one.cpp -g -gsplit-dwarf -c
compile two.cpp -g -gsplit-dwarf -c
link
looks_right "split DWARF"
# The part for exceptions has a local name, beside which its source stands.
status_is 0 "$lw" report --by=member "$W/log"
[ "$(awk '$NF == "two.cpp" { print $2 }' "$W/out")" -ge 2 ] || fail "members: $(cat "$W/out")"

# A compiler may give no ranges to a unit, and more kinds of blocks to a function. Its assembly says
# which number is which attribute or tag.
compile one.cpp -g -S -dA
sed '/TAG: DW_TAG_compile_unit/,/\.byte.*0$/ {
		s/0x11\(.*(DW_AT_low_pc)\)/0x2202\1/
		s/0x55\(.*(DW_AT_ranges)\)/0x2203\1/
	}
	s/0xb\(.*(TAG: DW_TAG_lexical_block)\)/0x32\1/' "$W/near/one.s" >"$W/near/bare.s"
if cmp -s "$W/near/one.s" "$W/near/bare.s"; then
	echo "left out: units without ranges: $CC has other comments in its assembly"
else
	compile bare.s -c -o one.o
	compile two.cpp -g -c
	link
	looks_right "no ranges"
fi

# Languages put functions into other functions, modules and classes. C has the first alone: the
# assembly makes something else of the block in which such a function stands.
cat >"$W/within.c" <<'CPP'
void *malloc(unsigned long);
static inline __attribute__((always_inline)) void keep_NAME(void *volatile *kept)
{
	*kept = malloc(8);
}
__attribute__((noinline)) void outer_NAME(int n)
{
	if (n > 0) {
		void *volatile kept;
		__attribute__((noinline)) void inner_NAME(void)
		{
			keep_NAME(&kept);
			kept = (char *)0 + n;
		}
		inner_NAME();
		inner_NAME();
	}
}
CPP
set --
for tag in 0xb:block 0x1e:module 0x2:class 0x13:structure 0x17:union 0x39:namespace; do
	name=${tag#*:}
	sed "s/NAME/$name/" "$W/within.c" | gcc -O1 -g -fno-optimize-sibling-calls -S -dA \
		-o - -x c - >"$W/within.s" || fail "cannot compile functions in functions"
	sed "s/0xb\\(.*(TAG: DW_TAG_lexical_block)\\)/${tag%:*}\\1/" "$W/within.s" >"$W/$name.s"
	set -- "$@" "$W/$name.s"
done
echo 'int main(void) { return 0; }' >"$W/main.c"
gcc -Wl,--build-id -o "$W/app" "$W/main.c" "$@" || fail "cannot link functions in functions"
for source; do
	inner=$(nm "$W/app" | awk -v name="inner_$(basename "$source" .s)" \
		'index($3, name) == 1 { print $3 }')
	echo "8 1 complete $(return_address objdump "$W/app" "$inner" malloc)"
done | make_dump 5.1 2026-11-20T18:36:01Z "$W/app" 0x55d0c8a00000 "$(build_id "$W/app")" >"$W/log"
status_is 0 "$lw" report -f json "$W/log"
equal "functions in functions" "$(jq -r '.dumps[0].call_sites | sort_by(.rank)[].frames |
	map("\(.function):\(.line)") | join(" ")' "$W/out")" "$(for source; do
	name=$(basename "$source" .s)
	echo "keep_$name:4 inner_$name:12"
done)"
