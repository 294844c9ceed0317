#!/bin/sh
# Traced programs under valgrind: it finds no error in them, and their dumps say what they say without it.  (What the walk
# reads of a stack are words that were written; what it reads of the tables was zeroed.)
# timeout: 240
. tests/lib.sh

command -v valgrind >"$W/which" || skip "no valgrind"

# check NAME SOURCE ARGUMENT...
check() {
	name=$1 source=$2
	shift 2
	build "$name" "$source"
	LEAKWRAP_OPTIONS=log="$W/$name.log" "$W/$name" "$@" >"$W/$name.out"
	status=$?
	LEAKWRAP_OPTIONS=log="$W/$name.valgrind.log" valgrind -q --error-exitcode=99 --leak-check=no --log-file="$W/$name.errors" \
		"$W/$name" "$@" >"$W/$name.valgrind.out"
	equal "$name: status" $? $status
	# That one way to ask whether memory can be read is new to it.
	grep -v "sigprocmask: unknown 'how'" "$W/$name.errors" >"$W/$name.found"
	[ ! -s "$W/$name.found" ] || fail "$name: $(head -n 30 "$W/$name.found")"
	for log in "$W/$name.log" "$W/$name.valgrind.log"; do
		n=$(dumps "$log" | wc -l)
		[ "$n" -gt 0 ] || fail "$name: no dump in $log"
		dump_sites "$log" "$n" | cut -d';' -f1-2 | sort >"$log.sites"
	done
	diff "$W/$name.log.sites" "$W/$name.valgrind.log.sites" || fail "$name: the dump differs under valgrind"
}

check nested tests/rules/nested.c
check api tests/rules/api.c
check allocators tests/link/allocators.c
check sharing tests/rules/handlers.c sigaction
