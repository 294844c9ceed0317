#!/bin/sh
# There is an exit dump where a shared library ends the process, by whatever function, with each
# linker. A child that the library forks dumps, too, and one of vfork does not.
. tests/lib.sh

# shellcheck disable=SC2086 # a list of flags
$CC $CFLAGS_FOR_TESTS -fPIC -shared -o "$W/libending.so" tests/process/ending_library.c ||
	fail "cannot build the library"
for linker in bfd gold lld mold; do
	command -v "ld.$linker" >"$W/which" 2>&1 || continue
	build program -fuse-ld=$linker tests/process/ends_of_libraries.c "$W/libending.so" \
		-Wl,-rpath,"$W"
	for how in _exit _Exit quick_exit exit destructor fork vfork; do
		rm -f "$W"/log*
		LEAKWRAP_OPTIONS="log=$W/log.%p" "$W/program" $how
		equal "$linker, $how: status" $? 5
		case $how in fork) wanted=2 ;; *) wanted=1 ;; esac
		equal "$linker, $how: logs" "$(find "$W" -name 'log.*' | wc -l)" $wanted
		bytes=$(for log in "$W"/log.*; do
			dump_is_whole "$log" 1 || fail "$linker, $how: no whole dump"
			dump_value "$log" 1 definite_bytes
		done | sort -n | tr '\n' ' ')
		case $how in fork) wanted='33 77 ' ;; *) wanted='77 ' ;; esac
		equal "$linker, $how: leaks" "$bytes" "$wanted"
	done
done
