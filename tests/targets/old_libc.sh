#!/bin/sh
# The runtime works with C libraries that lack functions.
#
# They are dietlibc, and glibc without what is newer than twenty years. The build of the runtime
# finds out what is missing. A program without an environment brings its options along.
# timeout: 300
. tests/lib.sh
. tests/targets/target.sh

# This compiler links as if the C library lacked these functions, and hides one header, and in
# another one the counters of the loader's list.
mkdir -p "$W/include/sys"
echo '#error "an old C library"' >"$W/include/sys/auxv.h"
header=$(echo '#include <link.h>' | gcc -x c -M - | tr ' ' '\n' | grep -m 1 '/link\.h$')
sed '/dlpi_adds;/d; /dlpi_subs;/d' "$header" >"$W/include/link.h"
missing="dl_iterate_phdr getauxval __libc_stack_end program_invocation_short_name"
# shellcheck disable=SC2086 # a list
cat >"$W/cc" <<END
#!/bin/sh
exec gcc -I"$W/include" $(printf -- '-Wl,--wrap=%s ' $missing) "\$@"
END
chmod +x "$W/cc"
rm -rf "$O/targets/old_glibc"
runtime old_glibc CC="$W/cc"
for function in $missing dlpi_subs; do
	grep -qx -e "-DLEAKWRAP_NO_$function" "$O/targets/old_glibc/lacks" ||
		fail "$function was not missed"
	! nm -u "$lib" | grep -q " [Uw] $function\$" || fail "the runtime calls $function"
done

# The runtime calls no other new function. Only the program does, and each wrapper calls its own
# original.
for function in aligned_alloc reallocarray _dl_find_object quick_exit; do
	! nm -u "$lib" | grep -q " [Uw] $function\$" || fail "the runtime calls $function"
done

program gcc
vendor gcc
for how in -pie -no-pie -static -static-pie; do
	relink gcc $how
	everything "glibc without much $how"
	dump_lines "$W/log" 1 | grep -q "^module 1 .*path=$W/app" ||
		fail "$how: the program is not known"
done

# A program without an environment brings its options along.
cat >"$W/options.c" <<END
const char *leakwrap_default_options(void) { return "log=$W/brought:top=1"; }
END
# shellcheck disable=SC2046
gcc -o "$W/app" "$W/program.o" "$W/options.c" "$W/vendor.a" \
	$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS |
	of_runtime) || fail "cannot link"
env -i "$W/app" leaks >"$W/out" 2>&1 || fail "without an environment: status $?"
equal "without an environment" \
	"$(dumps "$W/brought" | wc -l) $(dump_lines "$W/brought" 1 | grep -c '^site ')" "2 1"

command -v diet >/dev/null || {
	echo "$tried programs; dietlibc is left out: it is not installed"
	exit 0
}
# dietlibc has no posix_memalign. Its malloc(0) gives no block. Programs with threads die at their
# end, traced or not.
runtime dietlibc CC="diet gcc"
printf '#!/bin/sh\nexec diet gcc "$@"\n' >"$W/diet"
chmod +x "$W/diet"
TARGET_CFLAGS="$TARGET_CFLAGS -w" # because of warnings in its headers
program "$W/diet" -DSMALL_LIBC
vendor "$W/diet"
# shellcheck disable=SC2046
diet gcc -o "$W/app" "$W/program.o" "$W/vendor.o" \
	$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS | of_runtime) \
	-lpthread -lcompat 2>"$W/link" || fail "cannot link: $(tail -n 5 "$W/link")"
label=dietlibc
app 0 leaks
grep -v -e @nothing -e @memalign -e @asprintf -e in_thread tests/targets/expected >"$W/expected"
expected=$W/expected
as_expected "$label" "$W/app" "$W/log@1"

# Its thread-local variables are on the stack, in a frame that has ended when main has returned.
for end in '' 'atexit(said);'; do
	cat >"$W/ends.c" <<END
#include <stdlib.h>
#include <unistd.h>
void *volatile kept;
void said(void) { write(1, "said\n", 5); }
int main(void) { kept = malloc(10); kept = NULL; $end return 0; }
END
	# shellcheck disable=SC2046
	diet gcc -o "$W/ends" "$W/ends.c" $(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS |
		of_runtime) -lcompat 2>"$W/link" || fail "cannot link: $(tail -n 5 "$W/link")"
	rm -f "$W/log"
	LEAKWRAP_OPTIONS="log=$W/log" "$W/ends" >"$W/out" || fail "dietlibc, '$end': status $?"
	equal "dietlibc, '$end'" "$(dumps "$W/log" | wc -l) $(dump_value "$W/log" 1 live_bytes)" \
		"1 10"
done

# With its fclose in the program it flushes stdout before the functions of atexit, traced or not.
for flush in '' 'fflush(stdout);'; do
	cat >"$W/prints.c" <<END
#include <stdio.h>
#include <stdlib.h>
void said(void) { printf("said\\n"); $flush }
int main(void) { atexit(said); printf("main\\n"); return 0; }
END
	# shellcheck disable=SC2046
	diet gcc -o "$W/prints" "$W/prints.c" $(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS |
		of_runtime) -lcompat 2>"$W/link" || fail "cannot link: $(tail -n 5 "$W/link")"
	diet gcc -Wl,-u,fclose -o "$W/prints.plain" "$W/prints.c" 2>"$W/link" ||
		fail "cannot link: $(tail -n 5 "$W/link")"
	LEAKWRAP_OPTIONS=exit=0 "$W/prints" >"$W/out" || fail "prints: status $?"
	"$W/prints.plain" >"$W/plain.out" || fail "prints, untraced: status $?"
	cmp "$W/plain.out" "$W/out" || fail "prints: another output"
	[ -z "$flush" ] || equal "dietlibc, $flush" "$(tr '\n' ' ' <"$W/out")" "main said "
done

# It does not tell the registers of a crash: then there are no frames.
cat >"$W/crashes.c" <<END
#include <stdlib.h>
void *volatile kept;
int *volatile nowhere;
int main(void) { kept = malloc(10); return *nowhere; }
END
# shellcheck disable=SC2046
diet gcc -o "$W/crashes" "$W/crashes.c" $(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS |
	of_runtime) -lcompat 2>"$W/link" || fail "cannot link: $(tail -n 5 "$W/link")"
rm -f "$W/log"
(
	# shellcheck disable=SC3045 # dash has it
	ulimit -c 0
	LEAKWRAP_OPTIONS="log=$W/log:crash=1" exec "$W/crashes"
)
equal "dietlibc, a crash: status" $? 139
equal "dietlibc, a crash" "$(dump_lines "$W/log" 1 | sed -n '3,/^total/s/ .*//p' | tr '\n' ' ')" \
	"crash total "
echo "$tried programs, and dietlibc"
