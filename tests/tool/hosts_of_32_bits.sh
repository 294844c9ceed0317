#!/bin/sh
# The tool compiles on hosts of 32 bits, with signed and with unsigned char, without a warning.
#
# The libraries of such a host are not here, so nothing is linked. The headers of this host follow
# those of the cross compiler's C library.
. tests/lib.sh

headers="-idirafter /usr/include -idirafter /usr/include/$($CC -print-multiarch)"
for host in i686-linux-gnu arm-linux-gnueabihf; do
	command -v $host-gcc >/dev/null || skip "no $host-gcc"
	# shellcheck disable=SC2016 # for make, not for the shell
	make -s -j1 O="$W/$host" HOSTCC="$host-gcc -fsyntax-only $headers" \
		--eval '.SECONDEXPANSION:' --eval 'objects: $$(TOOL_OBJECTS)' objects \
		>"$W/$host.out" 2>&1 ||
		fail "$host: $(grep -m 5 'error:' "$W/$host.out" || tail -n 5 "$W/$host.out")"
done

# A file of 2 GiB or more has a size that 32 bits do not hold.
cat >"$W/size.c" <<'EOF'
#include <sys/types.h>
#include <time.h>
_Static_assert(sizeof(off_t) == 8 && sizeof(time_t) == 8, "large files, dates after 2038");
EOF
# shellcheck disable=SC2016 # for make, not for the shell
flags=$(make -s --eval 'flags: ; @echo $(filter -D_%,$(TOOL_CFLAGS))' flags)
# shellcheck disable=SC2086 # a list of flags
i686-linux-gnu-gcc $flags -fsyntax-only "$W/size.c" || fail "$flags: off_t or time_t of 32 bits"
