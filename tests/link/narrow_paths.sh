#!/bin/sh
# Whatever linker made the program: its wrappers look no further than there can be records, and what
# is not sampled goes on to malloc without a look at the settings.
. tests/lib.sh

for linker in bfd gold lld mold; do
	if ! command -v ld.$linker >"$W/which" 2>&1; then
		echo "left out: no ld.$linker"
		continue
	fi
	for link in dynamic static gc; do
		set -- "-fuse-ld=$linker"
		case $link in
		static) set -- "$@" -static ;;
		gc) set -- "$@" -Wl,--gc-sections ;;
		esac
		[ $linker-$link != lld-static ] ||
			set -- "$@" "$(leakwrap_flags LEAKWRAP_LLD_LDFLAGS)"
		build $link tests/link/narrow_paths.c -Iwrap -I"$O/include" "$@"
		for case in "record=0 none none skips" "sample=64M none sample skips" \
			"dump_at=failure:sample=64M none sample looks" "exit=0 any any looks"; do
			equal "$linker, $link, ${case%% *}" \
				"$(LEAKWRAP_OPTIONS=exit=0:${case%% *} "$W/$link")" "${case#* }"
		done
	done
done
