#!/bin/sh
# Every format names the function that asked for the memory, not the wrapper in front of malloc.
#
# The user says what a wrapper is, on the command line or in a file of the project.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh

build wrappers tests/tool/wrappers.c
(cd "$W" && LEAKWRAP_OPTIONS=log=log ./wrappers 3) || fail wrappers
log=$W/log

# askers [OPTION...]: prints the functions that asked, with their bytes, largest first.
askers() {
	status_is 0 "$lw" report --by=function "$@" "$log"
	awk '$NF == "function" { in_table = 1; kinds = /definitely lost/ ? 2 : 0; next }
		in_table && $1 !~ /^[0-9,]+$/ { exit }
		in_table && $(1 + kinds) != "0" { printf "%s=%s ", $(5 + kinds), $(1 + kinds) }' \
		"$W/out" | tr -d ,
}
uses="use_8=116 use_7=115 use_6=114 use_5=113 use_4=112 use_3=111 use_2=110 use_1=109 "
equal "by function" "$(askers)" \
	"open_table=12032 allocate_session=508 add_route=280 ${uses}read_config=36 "
equal "without skipping" "$(askers --no-skip)" "try_malloc_usable_internal=13476 add_route=280 "
equal "what the user skips" "$(askers '--skip=^allocate_*$')" \
	"open_table=12032 log_in=508 add_route=280 ${uses}read_config=36 "
equal "a source file" "$(askers --skip=wrappers.c)" "main=13756 "
equal "what the user does not skip" "$(askers '--no-skip=^zmalloc$')" "zmalloc=13476 add_route=280 "
equal "both" "$(askers --skip=open_table '--no-skip=^obtain$')" \
	"main=12032 obtain=900 allocate_session=508 add_route=280 read_config=36 "
# The wrapper's row counts the same bytes through it as without skipping.
status_is 0 "$lw" report --by=function "$log"
equal "through" "$(awk '$NF == "zmalloc" { print $(NF - 4), $(NF - 1) }' "$W/out")" \
	"0 13,476"
status_is 2 "$lw" report --skip= "$log"
said 'skip needs a pattern'

# Text has the wrappers on one line, unless all is asked for.
status_is 0 "$lw" report "$log"
equal "text" \
	"$(sed -n '/^  #1 /,/^$/p' "$W/out" | sed 's/  *[^ ]*wrappers.c:[0-9]*$//; s/^ *//')" \
	"#1 9,024 bytes in 3 blocks definitely lost, 65.6 %
through try_malloc_usable_internal, zmalloc
open_table
main"
status_is 0 "$lw" report --no-skip "$log"
shows '^      try_malloc_usable_internal  '
shows_not '^      through '
status_is 0 "$lw" report --all "$log"
shows '^      try_malloc_usable_internal  '
shows_not '^      through '

# JSON has the index of the frame. Folded stacks stay whole.
status_is 0 "$lw" report --last -f json "$log"
equal "asked_by" \
	"$(grep -o '"asked_by":[0-9]*' "$W/out" | sort | uniq -c | tr -s ' ' | tr '\n' ';')" \
	' 2 "asked_by":0; 3 "asked_by":2; 9 "asked_by":3;'
status_is 0 "$lw" report --no-skip --last -f json "$log"
equal "asked_by, without skipping" "$(grep -o '"asked_by":[0-9]*' "$W/out" | sort -u)" \
	'"asked_by":0'
status_is 0 "$lw" report -f folded "$log"
shows 'main;open_table;zmalloc;try_malloc_usable_internal 9024$'

# diff and growth name this function, too.
status_is 0 "$lw" diff "$log@1" "$log@3"
shows '^      open_table  '
shows_not '^      zmalloc'
status_is 0 "$lw" diff -f json "$log@1" "$log@3"
shows '"change":"grew",.*"asked_by":2,"frames"'
status_is 0 "$lw" report --growth "$log"
shows '^      open_table  '
status_is 0 "$lw" report --growth --by=function "$log"
shows '^      open_table$'
status_is 0 "$lw" report --growth -f json "$log"
shows '"asked_by":2,"frames"'

# The caller asked for memory that a class of the C++ library allocates.
cat >"$W/shelf.cc" <<'END'
#include <memory>
#include <string>
#include <vector>
template <typename T> struct shelf {
	std::vector<T> all;
	void __attribute__((noinline)) put(T t) { all.push_back(t); }
};
namespace {
struct pool {
	void *__attribute__((noinline)) allocate(size_t n) { return ::operator new(n); }
};
}
pool common;
void *volatile kept;
shelf<std::string> *volatile names;
void __attribute__((noinline)) first() { kept = common.allocate(3); }
void __attribute__((noinline)) second() { kept = common.allocate(4); }
int main()
{
	names = new shelf<std::string>;
	names->put("a text that does not fit into the string itself");
	first();
	second();
}
END
# shellcheck disable=SC2046 # flags
g++ -g -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -static-libstdc++ \
	-o "$W/shelf" "$W/shelf.cc" \
	$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_CXX_STATIC_LDLIBS) || fail shelf
LEAKWRAP_OPTIONS=log="$W/shelf.log" "$W/shelf" || fail shelf
log=$W/shelf.log
askers | sed "s/^/ /" >"$W/askers"
for one in 'first()=3' 'second()=4'; do
	grep -qF " $one " "$W/askers" || fail "$one: $(cat "$W/askers")"
done
status_is 0 "$lw" report "$log"
shows '^      through .*std::vector::push_back'
shows '^      shelf<.*>::put'
log=$W/log

# The project's file has long options, one in each line. The command line overrides them.
mkdir -p "$W/project"
printf '# wrappers of ours\n\n  skip=^allocate_\n--by = function\n' >"$W/project/.leakwrap"
(cd "$W/project" && "$lw" report ../log >../out 2>../err)
said '^leakwrap: .leakwrap:4: by  *is no option that a settings file may hold$'
echo -- >"$W/project/.leakwrap"
(cd "$W/project" && "$lw" report ../log >../out 2>../err)
said '^leakwrap: .leakwrap:1: an option without a name$'
printf '# wrappers of ours\n\ntop=1\nby=sorcery\n' >"$W/project/.leakwrap"
(cd "$W/project" && "$lw" report ../log >../out 2>../err)
equal "status of a wrong value" $? 2
said '^leakwrap: .leakwrap:4: --by=sorcery: must be function, file, module, member or origin$'
printf '# wrappers of ours\n\n  skip=^allocate_\n--by=function\ntop=1\n' >"$W/project/.leakwrap"
(cd "$W/project" && "$lw" report ../log >../out 2>../err) || fail "settings"
shows ' open_table$'
equal "top=1" "$(sed -n '/ function$/,/^$/p' "$W/out" | wc -l)" 3
(cd "$W/project" && "$lw" report --top=0 ../log >../out 2>../err) ||
	fail "settings and the command line"
shows ' log_in$'
(cd "$W/project" && "$lw" diff ../log@1 ../log@3 >../out 2>../err) ||
	fail "diff, and a setting for report"
equal "diff: top=1" "$(grep -c '^  grew' "$W/out")" 1
(cd "$W/project" && "$lw" report --by=module ../log >../out 2>../err) || fail "the last word"
shows ' module$'
cp "$W/project/.leakwrap" "$W/settings"
status_is 0 "$lw" report --config="$W/settings" "$W/log"
shows ' open_table$'
status_is 0 "$lw" report --config "$W/settings" "$W/log"
shows ' open_table$'
status_is 0 "$lw" report "$W/log" --config="$W/settings"
shows ' open_table$'
(cd "$W" && "$lw" report -o --config=out log) || fail "the value of another option"
status_is 2 "$lw" report --config="$W/none" "$W/log"
said "none: No such file"
# The last settings file counts.
echo nonsense >"$W/wrong"
echo top=1 >"$W/settings"
status_is 0 "$lw" report --config="$W/wrong" --config="$W/settings" "$W/log"
status_is 2 "$lw" report --config="$W/settings" --config="$W/wrong" "$W/log"
# The last list of origins counts.
echo origin=library >"$W/settings"
status_is 0 "$lw" report --config="$W/settings" --origin=program "$W/log"
shows '^  #1 '
status_is 0 "$lw" report --origin=program --origin=library "$W/log"
shows_not '^  #1 '
for bad in 'output=x' 'config=x' 'nonsense' 'help'; do
	echo "$bad" >"$W/settings"
	status_is 2 "$lw" report --config="$W/settings" "$W/log"
	said "settings:1: ${bad%%=*} is no option that a settings file may hold"
done
echo skip >"$W/settings"
status_is 2 "$lw" report --config="$W/settings" "$W/log"
said 'settings:1: skip needs a value: skip=PATTERN'
echo growth=1 >"$W/settings"
status_is 2 "$lw" report --config="$W/settings" "$W/log"
said 'settings:1: growth takes no value'

# A single function with a wrapper's name stands on the line in its place.
cat >"$W/local.c" <<'END'
#include <stdlib.h>
void *volatile kept;
__attribute__((noinline)) void localloc_leak(void) { kept = malloc(10); }
int main(void) { localloc_leak(); return 0; }
END
build local "$W/local.c"
LEAKWRAP_OPTIONS=log="$W/local.log" "$W/local" || fail local
status_is 0 "$lw" report --skip=localloc_leak "$W/local.log"
shows '^      through localloc_leak  .*local.c:3$'
