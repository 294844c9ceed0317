#!/bin/sh
# The relinked SQLite ledger's dumps show each planted leak at its call site, to the byte.
#
# The ledger is linked dynamically and statically. The dump's sum for the library agrees with the
# library's own counter. The dump lists nothing that was freed.
. tests/lib.sh
. tests/demo/drive.sh

statements=tests/demo/statements.sql
count=$(wc -l <$statements)
history="$(wc -c <$statements) $count" # keep_history copies each line, with NUL for the newline

library_blocks() {
	malloced=$(site_by "$log" "$1" sqlite3MemMalloc)
	resized=$(site_by "$log" "$1" sqlite3MemRealloc)
	echo $((${malloced#* } + ${resized#* }))
}

# Prints the "BYTES BLOCKS" of SQLite's copies of the lines of standard input. SQLite rounds each
# copy up to 8 bytes and puts 8 bytes with the size in front of it.
copies() {
	awk '
		{ bytes += int((length + 8) / 8) * 8 + 8; blocks++ }
		END { print bytes + 0, blocks + 0 }'
}

# called DUMP FUNCTION CALLER: prints the "BYTES BLOCKS" of the call sites where FUNCTION, called by
# CALLER, allocated through SQLite's allocator. Debian 11's library has the two functions inlined:
# there CALLER calls the allocator itself.
called() {
	dump_sites "$log" "$1" |
		awk -v f=";($2|sqlite3Malloc|dbMallocRawFinish);$3;" '
			";" $4 ~ f { bytes += $1; blocks += $2 }
			END { print bytes + 0, blocks + 0 }'
}

for kind in '' .static; do
	ledger=$O/demo/sqlite_ledger$kind
	[ -x "$ledger" ] || fail "no $ledger: make demo-programs"
	start "$W/out$kind" "$W/log$kind" "$ledger"

	request "$count" <$statements
	held=$(sed -n 's/.*sqlite holds \([0-9]*\) .*/\1/p' "$out" | tail -n 1)
	signal_dump 1
	equal "history in dump 1$kind" "$(site_by "$log" 1 keep_history)" "$history"
	equal "SQLite's blocks in dump 1$kind" "$(library_blocks 1)" "$held"
	equal "messages in dump 1$kind" "$(called 1 sqlite3DbStrDup sqlite3_exec)" \
		"$(sed -n 's/^refused: \(.*\), sqlite.*/\1/p' "$out" | copies)"
	[ "$(site_through "$log" 1 query)" != "0 0" ] || fail "no call site of query$kind"
	equal "texts of unfinished statements in dump 1$kind" \
		"$(called 1 sqlite3VdbeSetSql sqlite3Prepare)" \
		"$(grep '^select' $statements | copies)"
	equal "trimmed lines in dump 1$kind" "$(site_by "$log" 1 trimmed)" "0 0"

	finish || fail "exit status $?"
	wait_for_dump "$log" "$program.2"
	held=$(sed -n 's/.*sqlite holds \([0-9]*\) .*/\1/p' "$out" | tail -n 1)
	equal "reason of dump 2$kind" "$(dump_value "$log" 2 reason)" exit
	equal "history at exit$kind" "$(site_by "$log" 2 keep_history)" "$history"
	equal "SQLite's blocks at exit$kind" "$(library_blocks 2)" "$held"
	equal "dumps$kind" "$(dumps "$log" | wc -l)" 2

	# Only stdio's buffers and the like are not the program's or SQLite's.
	if [ -z "$kind" ]; then
		own=$(own_sites "$log" 2)
		equal "own blocks at exit" "${own#* }" $((count + held))
	fi
done
