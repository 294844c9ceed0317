#!/bin/sh
# A search for lost memory that another thread asks for does not delay the end of the process: the
# thread that ends it is never kept as a sleeper, and the exit dump can stop all others.
. tests/lib.sh

for static in '' -static; do
	build "exits$static" $static tests/process/exit_during_searches.c
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		rm -f "$W/log"
		LEAKWRAP_OPTIONS=log="$W/log" timeout 30 "$W/exits$static" ||
			fail "$static: status $?"
		dump_lines "$W/log" 1 | grep -q '^kinds ' ||
			fail "$static: no kinds: $(grep note "$W/log")"
	done
done
