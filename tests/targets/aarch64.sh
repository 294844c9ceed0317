#!/bin/sh
# On AArch64 every call site is found: gcc and clang, signed return addresses on a processor that
# checks them, and a shadow call stack.
. tests/lib.sh
. tests/targets/target.sh

target aarch64-linux-gnu qemu-aarch64
run="qemu-aarch64 -cpu max -L /usr/$triple"
clang="clang --target=$triple"

# by_frame_pointers LABEL: checks the leaks of $W/app, which has no tables. In a thread, the C
# library's first frames may be out of reach.
by_frame_pointers() {
	rm -f "$W/log"
	LEAKWRAP_OPTIONS=log=$W/log:unwind=fp $run "$W/app" leaks >"$W/out" 2>&1 ||
		fail "$1: status $?"
	call_sites "$W/app" "$W/log@1" | sed 's/ truncated$//' >"$W/got"
	sort "$expected" | diff - "$W/got" || fail "$1: other call sites than expected"
}

# With a shadow call stack x18 is the program's, and no code of the runtime changes it.
"$triple-objdump" -d "$lib" "${lib%/*}/process/libleakwrap_process_members.a" >"$W/code" ||
	fail "no objdump of the runtime"
! grep -w '[xw]18' "$W/code" || fail "the runtime uses x18"
cat >"$W/shadow.c" <<'END'
#include <stdlib.h>
void *volatile kept;
static void *shadow[4096];
__attribute__((noinline)) static void leak(void)
{
	kept = malloc(77);
	__asm__ volatile("");
}
__attribute__((no_sanitize("shadow-call-stack"))) int main(void)
{
	__asm__ volatile("mov x18, %0" : : "r"(shadow));
	leak();
	return 4;
}
END
if $gcc -ffixed-x18 -fsanitize=shadow-call-stack -O2 -fno-builtin -c -o "$W/program.o" \
	"$W/shadow.c" 2>"$W/errors"; then
	ar rcs "$W/vendor.a"
	relink "$gcc"
	LEAKWRAP_OPTIONS=log=$W/log $run "$W/app"
	equal "shadow call stack: exit status" $? 4
	equal "shadow call stack: leak" "$(site_by "$W/log" 1 leak)" "77 1"
	rm -f "$W/log" "$W/vendor.a"
else
	echo "left out: $gcc has no shadow call stack"
fi

# A va_list is passed by the address of a copy. No wrapper makes one and becomes a frame itself.
cat >"$W/text.c" <<'END'
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
char *volatile kept;
__attribute__((noipa)) static void leak(const char *format, ...)
{
	char *text;
	va_list list;
	va_start(list, format);
	if (vasprintf(&text, format, list) < 0)
		exit(1);
	va_end(list);
	kept = text;
}
int main(void)
{
	leak("%d %s", 1, "text");
	kept = NULL;
	return 0;
}
END
$gcc -O2 -D_GNU_SOURCE -c -o "$W/program.o" "$W/text.c" || fail "cannot compile the text"
ar rcs "$W/vendor.a"
relink "$gcc"
for option in record=1 sample=1 misuse=report allocated=1; do
	rm -f "$W/log"
	LEAKWRAP_OPTIONS=log=$W/log:$option $run "$W/app" 2>"$W/err" || fail "$option: status $?"
	equal "vasprintf with $option" "$(site_by "$W/log" 1 leak)" "7 1"
done
rm -f "$W/log" "$W/vendor.a"

for flags in "" -mbranch-protection=standard; do
	# shellcheck disable=SC2086 # none or one
	{
		program "$gcc" $flags
		vendor "$gcc" $flags
	}
	for how in "" -static -static-pie; do
		# shellcheck disable=SC2086
		relink "$gcc" $flags $how
		everything "gcc $flags $how"
	done
	# shellcheck disable=SC2086
	vendor "$gcc" $flags -fno-omit-frame-pointer
	relink "$gcc"
	by_frame_pointers "gcc $flags, frame pointers"
	if command -v clang >/dev/null; then
		# shellcheck disable=SC2086
		program $clang $flags
		# shellcheck disable=SC2086
		vendor $clang $flags
		relink "$gcc"
		leaks "clang $flags"
	fi
done
echo "$tried programs"
