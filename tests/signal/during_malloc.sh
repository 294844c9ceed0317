#!/bin/sh
# A handler that interrupts malloc, realloc or free under the allocator's lock can dump.
#
# The dump shows a block as live only while the program surely has it.
. tests/lib.sh

for static in '' -static; do
	build "inside$static" $static tests/signal/during_malloc.c tests/alloc/own_malloc.c
	log=$W/log$static
	equal "output$static" "$("$W/inside$static" 2>"$log")" "done"
	equal "dumps$static" "$(dumps "$log" | sed 's/.*\.//' | tr '\n' ' ')" "1 2 3 4 "
	equal "in malloc$static" "$(site_by "$log" 1 allocates)" "0 0"
	blocks="$(site_by "$log" 2 allocates) $(site_by "$log" 2 resizes)"
	case $blocks in
	"100 1 0 0" | "0 0 1000 1" | "0 0 0 0") ;;
	*) fail "in realloc$static: $blocks" ;;
	esac
	equal "in free, the new block$static" "$(site_by "$log" 3 resizes)" "0 0"
	equal "in free, the old block$static" "$(site_by "$log" 3 allocates)" "0 0"
	equal "in the end$static" "$(site_by "$log" 4 allocates)" "0 0"
done
