#!/bin/sh
# With allocated=1 a dump says what each call site has allocated so far, also what was freed again.
. tests/lib.sh

cat >"$W/churn.cc" <<'END'
#include <cstdlib>
#include <thread>
#include <vector>

#define SITE extern "C" __attribute__((noinline)) void *
SITE small(void) { return malloc(48); }
SITE zeroed(void) { return calloc(3, 100); }
SITE aligned(void)
{
	void *block = nullptr;
	return posix_memalign(&block, 256, 700) ? nullptr : block;
}
SITE large(void) { return malloc(800000); }
SITE grown(void *block) { return realloc(block, 300); }
SITE by_new(void) { return operator new(80); }
SITE kept(void) { return malloc(5000); }

static void churn(void)
{
	for (int i = 0; i < 1000; i++) {
		free(small());
		free(zeroed());
		free(aligned());
		free(grown(small()));
		operator delete(by_new());
		if (i % 100 == 0)
			free(large());
		if (i % 250 == 0)
			*(volatile char *)kept() = 1;
	}
}

int main()
{
	std::vector<std::thread> threads;
	for (int i = 0; i < 4; i++)
		threads.emplace_back(churn);
	for (auto &thread : threads)
		thread.join();
}
END

# site FUNCTION: prints the live blocks, and the bytes, blocks and temporary blocks allocated at the
# call sites whose innermost frame is FUNCTION.
site() {
	grep -B1 "  #0 .* $1+" "$W/$link.log" | tr '=' ' ' | awk '
		$2 == "site" { live += $7; bytes += $(NF - 4); blocks += $(NF - 2); short += $NF }
		END { print live + 0, bytes + 0, blocks + 0, short + 0 }'
}

# A block that is resized is not temporary, nor is the last one of each thread: it is freed, but the
# thread does not allocate again.
for link in dynamic static; do
	flag=
	# std::thread needs all of libpthread.a with glibc before 2.34; later that is empty.
	[ $link = dynamic ] || flag="-static -Wl,--whole-archive,-lpthread,--no-whole-archive"
	# shellcheck disable=SC2046,SC2086 # lists of flags
	$(cxx_of "$CC") -std=gnu++17 -O2 -g -fno-builtin -fno-optimize-sibling-calls $keep_apart \
		-o "$W/$link" "$W/churn.cc" $flag -pthread \
		$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_CXX_LDLIBS) 2>"$W/err" ||
		fail "$(cat "$W/err")"
	LEAKWRAP_OPTIONS="log=$W/$link.log:allocated=1" "$W/$link" || fail "$link"
	equal "$link: small" "$(site small)" "0 384000 8000 4000"
	equal "$link: zeroed" "$(site zeroed)" "0 1200000 4000 4000"
	equal "$link: aligned" "$(site aligned)" "0 2800000 4000 4000"
	equal "$link: large" "$(site large)" "0 32000000 40 40"
	equal "$link: grown" "$(site grown)" "0 1200000 4000 4000"
	equal "$link: operator new" "$(site by_new)" "0 320000 4000 3996"
	equal "$link: kept" "$(site kept)" "16 80000 16 0"
	sum=$(sed -n 's/.* site .* allocated_bytes=\([0-9]*\) .*/\1/p' "$W/$link.log" |
		awk '{ sum += $1 } END { print sum }')
	temporary=$(sed -n 's/.* site .* temporary_blocks=//p' "$W/$link.log" |
		awk '{ sum += $1 } END { print sum }')
	equal "$link: all temporary" "$(dump_value "$W/$link.log" 1 temporary_blocks)" "$temporary"
	equal "$link: all" "$(dump_value "$W/$link.log" 1 allocated_bytes)" "$sum"
	# What is live does not change.
	LEAKWRAP_OPTIONS="log=$W/$link.plain" "$W/$link" || fail "$link"
	equal "$link: live" "$(dump_value "$W/$link.log" 1 live_bytes)" \
		"$(dump_value "$W/$link.plain" 1 live_bytes)"
	! grep -q allocated_ "$W/$link.plain" || fail "$link: counted without being asked"
done

# The tool shows it.
"$O/leakwrap" report -f json "$W/static.log" >"$W/out" || fail json
grep -q '"allocated_bytes":384000,"allocated_blocks":8000' "$W/out" ||
	grep -q '"allocated_bytes":192000,"allocated_blocks":4000' "$W/out" ||
	fail "JSON: $(cat "$W/out")"
"$O/leakwrap" report "$W/static.log" >"$W/out" || fail text
for line in 'allocated so far: .* bytes in .* blocks, [0-9,]* of them temporary$' \
	'allocated most often so far$' \
	'  4,000 blocks of 1,200,000 bytes, 1[0-9.]* % of all blocks, 4,000 of them temporary;'; do
	grep -q "^  $line" "$W/out" || fail "text lacks '$line': $(cat "$W/out")"
done
