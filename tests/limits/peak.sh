#!/bin/sh
# With peak=1 a dump says what each call site held when most bytes were live.
. tests/lib.sh

# near WHAT GOT WANTED PERCENT: fails if GOT is further than PERCENT from WANTED.
near() {
	awk -v got="$2" -v wanted="$3" -v percent="$4" 'BEGIN {
		off = got > wanted ? got - wanted : wanted - got
		exit !(off * 100 <= wanted * percent)
	}' || fail "$1: $2, wanted $3"
}

for link in dynamic static; do
	flag=
	[ $link = dynamic ] || flag=-static
	# shellcheck disable=SC2086 # one flag or none
	build $link tests/limits/peak.c $flag
	log=$W/$link.log
	LEAKWRAP_OPTIONS="log=$log:peak=1" "$W/$link" || fail "$link: status $?"
	# The largest part of the peak is freed in the end.
	near "$link: peak" "$(dump_value "$log" 1 peak_bytes)" 100000000 2
	near "$link: build_index" "$(site_value "$log" 1 build_index peak_bytes)" 60000000 2
	near "$link: load" "$(site_value "$log" 1 load peak_bytes)" 30000000 2
	near "$link: parse" "$(site_value "$log" 1 parse peak_bytes)" 10000000 2
	equal "$link: later" "$(site_value "$log" 1 later peak_bytes)" 0
done

# A sample estimates the peak.
log=$W/sampled.log
LEAKWRAP_OPTIONS="log=$log:peak=1:sample=64K" "$W/dynamic" || fail "sampled: status $?"
near "sampled: peak" "$(dump_value "$log" 1 peak_bytes)" 100000000 15

# The highest point may be now.
log=$W/now.log
cat >"$W/rises.c" <<'END'
#include <stdlib.h>
int main(void)
{
	for (int i = 0; i < 777; i++)
		*(volatile char *)malloc(100) = 1;
	return 0;
}
END
build rises "$W/rises.c"
LEAKWRAP_OPTIONS="log=$log:peak=1" "$W/rises" || fail "rises: status $?"
equal "now" "$(site_value "$log" 1 main peak_blocks)" 777
# A sampled block of 100 bytes stands for 5.5 blocks here.
rm "$log"
LEAKWRAP_OPTIONS="log=$log:peak=1:sample=500" "$W/rises" || fail "rises, sampled: status $?"
near "sampled, now" "$(dump_value "$log" 1 peak_blocks)" "$(dump_value "$log" 1 live_blocks)" 1

# The tool shows it; without the option nothing does.
"$O/leakwrap" report "$W/dynamic.log" >"$W/out" || fail report
grep -q 'at the peak, 20..-..-.. ..:..:.. UTC: .* bytes in [23],... blocks$' "$W/out" ||
	fail "no peak: $(cat "$W/out")"
grep -A1 '^    .* bytes in .*, [56][0-9]\.. % of the peak, now 0 bytes$' "$W/out" |
	grep -q build_index || fail "build_index is not on top of the peak: $(cat "$W/out")"
"$O/leakwrap" report -f json "$W/dynamic.log" >"$W/out" || fail json
grep -q '"peak_bytes":.*"peak_blocks":.*"peak_time":"20' "$W/out" || fail "JSON has no peak"
LEAKWRAP_OPTIONS="log=$W/plain.log" "$W/dynamic" || fail plain
! grep -q peak_ "$W/plain.log" || fail "a peak without being asked"

# The last large block before the peak counts, and what is freed at once.
cat >"$W/large.c" <<'END'
#include <stdlib.h>
int main(int count, char **words)
{
	void *blocks[100];
	const int most = count == 3 ? atoi(words[1]) : 0;

	for (int i = 0; i < most; i++)
		blocks[i] = malloc((size_t)atoi(words[2]));
	for (int i = 0; i < most; i++)
		free(blocks[i]);
	/* The second block takes the place of the first. */
	blocks[0] = malloc(50000);
	blocks[1] = realloc(blocks[0], 100000);
	free(blocks[1]);
	return 0;
}
END
build large "$W/large.c" -w
for blocks in '1 200000000' '2 50000000' '10 10000000' '50 10000' '7 100000'; do
	rm -f "$log"
	# shellcheck disable=SC2086 # two words
	LEAKWRAP_OPTIONS="log=$log:peak=1:libraries=0" "$W/large" $blocks || fail "large: $blocks"
	near "$blocks" "$(dump_value "$log" 1 peak_bytes)" $((${blocks% *} * ${blocks#* })) 2
done
rm -f "$log"
LEAKWRAP_OPTIONS="log=$log:peak=1:record=0" "$W/large" || fail "nothing recorded"
dump_value "$log" 1 peak_time | grep -q '^20' || fail "no time: $(dump_lines "$log" 1 | grep ^peak)"
