#!/bin/sh
# With sample= a dump estimates what all blocks would show; frees of sampled blocks are exact.
. tests/lib.sh

cat >"$W/sizes.c" <<'END'
#include <stdlib.h>
#include <string.h>

static __attribute__((noinline)) void *small(void) { return malloc(48); }
static __attribute__((noinline)) void *middle(void) { return calloc(3, 1000); }
static __attribute__((noinline)) void *large(void) { return malloc(800000); }
static __attribute__((noinline)) void *resized(void) { return realloc(malloc(500), 400); }
static __attribute__((noinline)) void *passing(void) { return malloc(200); }
static __attribute__((noinline)) void *growing(void) { return malloc(100); }

int main(void)
{
	for (int i = 0; i < 100000; i++) {
		*(volatile char *)small() = 1;
		free(passing());
		free(realloc(growing(), 300));
		if (i % 10 == 0)
			*(volatile char *)middle() = 1;
		if (i % 10 == 5)
			*(volatile char *)resized() = 1;
		if (i % 20000 == 0)
			*(volatile char *)large() = 1;
	}
	return 0;
}
END
# A program that has functions of its own in the place of two of the C library's: they call malloc.
cat >"$W/own.c" <<'END'
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

void *calloc(size_t count, size_t size)
{
	void *block = malloc(count * size);

	return block ? memset(block, 0, count * size) : NULL;
}

void *realloc(void *old, size_t size)
{
	const size_t kept = old ? malloc_usable_size(old) : 0;
	void *block = malloc(size);

	if (block && old)
		memcpy(block, old, kept < size ? kept : size);
	if (block)
		free(old);
	return block;
}
END
# near WHAT GOT WANTED ERROR: fails if GOT is further than six standard errors from WANTED.
near() {
	awk -v got="$2" -v wanted="$3" -v error="$4" \
		'BEGIN { d = got - wanted; exit !(d * d <= 36 * error * error) }' ||
		fail "$1: estimated $2, true $3, standard error $4"
}

# live_of FUNCTION: prints the live bytes of the call site whose innermost frame is FUNCTION.
live_of() {
	grep -B1 "  #0 .* $1+" "$log" | sed -n "s/.* site [0-9]*: \\([0-9]*\\) byte.*/\\1/p"
}

for link in dynamic static own; do
	more=
	[ $link != static ] || more=-static
	[ $link != own ] || more=$W/own.c
	# shellcheck disable=SC2086 # one word or none
	build $link "$W/sizes.c" $more
	log=$W/$link.log
	LEAKWRAP_OPTIONS="log=$log:sample=64K" "$W/$link" || fail "$link"
	equal "$link: interval" "$(dump_value "$log" 1 sample_interval)" 65536
	equal "$link: missing" "$(dump_value "$log" 1 missing)" none
	near "$link: live bytes" "$(dump_value "$log" 1 live_bytes)" 42800000 \
		"$(dump_value "$log" 1 live_bytes_error)"
	near "$link: small" "$(live_of small)" 4800000 "$(site_value "$log" 1 small error)"
	near "$link: middle" "$(live_of middle)" 30000000 "$(site_value "$log" 1 middle error)"
	near "$link: resized" "$(live_of resized)" 4000000 "$(site_value "$log" 1 resized error)"
	equal "$link: large" "$(live_of large)" 4000000
	equal "$link: certain" "$(site_value "$log" 1 large sampled)" 5
	equal "$link: certain, error" "$(site_value "$log" 1 large error)" 0
	# What was freed is not live, but was allocated. The error is that of as many live blocks.
	equal "$link: passing" "$(live_of passing)" 0
	near "$link: allocated" "$(site_value "$log" 1 passing allocated_bytes)" 20000000 1160000
	# It is freed before the next allocation, but what is kept or resized is not.
	equal "$link: temporary" "$(site_value "$log" 1 passing temporary_blocks)" \
		"$(site_value "$log" 1 passing allocated_blocks)"
	for function in small growing large; do
		equal "$link: temporary, $function" \
			"$(site_value "$log" 1 $function temporary_blocks)" 0
	done
	equal "$link: foreign" "$(dump_value "$log" 1 foreign_frees)" 0
	# Sampled blocks have no kind: memory is not searched for pointers.
	grep -q '\] note lost memory is not .*: sampled blocks have no kind$' "$log" ||
		fail "$link: the dump does not say why it has no kinds"
	! grep -q '\] kinds ' "$log" || fail "$link: memory was searched"
done
[ "$(dump_value "$W/dynamic.log" 1 sampled_blocks)" -lt 2000 ] || fail "too many are sampled"

# The exact dump does not change.
LEAKWRAP_OPTIONS="log=$W/exact.log" "$W/dynamic" || fail exact
equal "exact" "$(dump_value "$W/exact.log" 1 live_bytes)" 42800000
! grep -Eq '\] sampling| sampled=' "$W/exact.log" || fail "an exact dump speaks of samples"

# Against a model, with threads and all ways to allocate.
for link in dynamic static; do
	flag=
	[ $link = dynamic ] || flag=-static
	# shellcheck disable=SC2086 # one flag or none
	build model-$link tests/alloc/sampled.c $flag 2>"$W/err" || fail "$(cat "$W/err")"
	for interval in 4096 65536; do
		LEAKWRAP_OPTIONS="exit=0:sample=$interval" "$W/model-$link" \
			"${SAMPLED_EVENTS:-400000}" $interval >"$W/out" 2>&1 ||
			fail "$link, $interval: $(cat "$W/out")"
	done
done

# Misuse cannot be told from blocks that were not recorded.
LEAKWRAP_OPTIONS="log=$W/misuse.log:sample=64K:misuse=report" "$W/static" 2>"$W/err" || fail misuse
grep -q 'sample= is ignored' "$W/err" || fail "no word about misuse="
LEAKWRAP_OPTIONS="log=$W/fail.log:sample=64K:fail=list" "$W/static" 2>"$W/err" || fail "fail=list"
grep -q 'fail= needs all blocks: sample= is ignored' "$W/err" || fail "no word about fail="
! grep -q '] sampling' "$W/fail.log" || fail "fail=list samples"
equal "misuse" "$(dump_value "$W/misuse.log" 1 sampled_blocks)" ""
