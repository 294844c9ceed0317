#!/bin/sh
# linker-flags.mk and the bare-metal archive agree about the wrapped symbols.
#
# link/wrapped_symbols shows the same for the other archive. The bare-metal archive needs nothing of
# an operating system, and no thread-local storage.
. tests/lib.sh
. tests/bare/board.sh
LC_ALL=C
export LC_ALL

for board in $boards; do
	board_runtime "$board"
	lib=$O/bare/$board/libleakwrap.a
	leakwrap_flags LEAKWRAP_BARE_SYMBOLS | tr ' ' '\n' | sort >"$W/listed"
	for symbol in _malloc_r _free_r _calloc_r _realloc_r _memalign_r pvPortMalloc vPortFree \
		malloc; do
		grep -qx "$symbol" "$W/listed" || fail "$symbol is not listed"
	done
	sed 's/^/-Wl,--wrap=/' "$W/listed" | sort >"$W/wanted"
	leakwrap_flags LEAKWRAP_BARE_LDFLAGS | tr ' ' '\n' | grep -e --wrap | sort >"$W/flags"
	diff "$W/wanted" "$W/flags" >"$W/difference" ||
		fail "LEAKWRAP_BARE_LDFLAGS: $(cat "$W/difference")"

	arm-none-eabi-nm -A -g "$lib" | sed 's/^[^ ]*[:\[]\([^]:]*\.o\)[]:]*:/\1 /' >"$W/symbols"
	awk 'NF >= 4 && $4 ~ /^__wrap_/ { print substr($4, 8) }' "$W/symbols" | sort >"$W/defined"
	diff "$W/listed" "$W/defined" >"$W/difference" ||
		fail "listed (<) and defined (>): $(cat "$W/difference")"
	awk 'NF >= 4 && $4 ~ /^__wrap_/ { print $1 }' "$W/symbols" | sort | uniq -d >"$W/crowded"
	equal "$board: members with several wrappers" "$(cat "$W/crowded")" ""

	awk '$(NF - 1) == "U" { print $NF }' "$W/symbols" |
		grep -xE -e 'mmap|sigaction|pthread_.*|fork|syscall|dl_.*|getenv' \
			-e 'malloc|free|printf' -e '__tls.*|__emutls.*|__aeabi_read_tp' |
		sort -u >"$W/system"
	equal "$board: asks for" "$(cat "$W/system")" ""
done
