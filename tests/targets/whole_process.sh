#!/bin/sh
# On each target, with each C library, a dynamic program traces what its shared libraries allocate.
#
# The program's own objects never allocate. A library keeps and frees blocks in two threads, has the
# C library allocate for it, and loads another library.
# timeout: 240
. tests/lib.sh

cat >"$W/library.c" <<'END'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
void library_keeps(const char *plugin);
static void *volatile kept[6];
static void *in_thread(void *unused)
{
	kept[0] = malloc(1000);
	kept[1] = realloc(calloc(10, 30), 700);
	kept[2] = strdup("four");
	free(aligned_alloc(64, 640));
	if (posix_memalign((void **)&kept[3], 64, 128) != 0)
		abort();
	return unused;
}
void library_keeps(const char *plugin)
{
	void *handle = dlopen(plugin, RTLD_NOW);
	void *(*makes)(void) = NULL;
	pthread_t thread;
	FILE *file = fopen("/dev/null", "w");

	if (!file || fputs("text", file) < 0 || fclose(file) != 0)
		abort();
	if (pthread_create(&thread, NULL, in_thread, NULL) != 0 || pthread_join(thread, NULL) != 0)
		abort();
	if (handle)
		*(void **)&makes = dlsym(handle, "plugin_makes");
	if (!makes)
		abort();
	kept[4] = makes();
	free(makes());
}
END
cat >"$W/plugin.c" <<'END'
#include <stdlib.h>
void *plugin_makes(void);
void *plugin_makes(void) { return malloc(77); }
END
cat >"$W/silent.c" <<'END'
void library_keeps(const char *plugin);
int main(int argc, char **argv) { (void)argc; library_keeps(argv[1]); return 0; }
END

# process TRIPLE COMPILER RUN...: builds for TRIPLE, and compares what is live.
process() {
	triple=$1 compiler=$2
	shift 2
	to=$W/$triple
	mkdir -p "$to"
	# shellcheck disable=SC2046 # lists of flags
	{
		"$compiler" -O1 -funwind-tables -fno-builtin -shared -fPIC -o "$to/libkeeps.so" \
			"$W/library.c" -pthread -ldl &&
			"$compiler" -O1 -shared -fPIC -o "$to/plugin.so" "$W/plugin.c" &&
			"$compiler" -o "$to/silent" "$W/silent.c" -L"$to" -lkeeps \
				-Wl,-rpath,"$to" -pthread \
				$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS | of_runtime)
	} >"$W/link" 2>&1 || fail "$triple: $(tail -n 5 "$W/link")"
	for options in misuse=report depth=2:min_bytes=0; do
		LEAKWRAP_OPTIONS=$options "$@" "$to/silent" "$to/plugin.so" 2>"$W/log" ||
			fail "$triple, $options: status $?: $(tail -n 3 "$W/log")"
		equal "$triple, $options: coverage" \
			"$(dump_lines "$W/log" 1 | grep '^coverage\|^bypass')" "coverage process"
		equal "$triple, $options: loss" \
			"$(dump_lines "$W/log" 1 | sed -n 's/^loss //p')" "$none_lost"
		equal "$triple, $options: live in the libraries" "$(dump_lines "$W/log" 1 | awk '
			/^site .* origin=library / {
				bytes += $3
				blocks += $6
			}
			END { print bytes + 0, blocks + 0 }')" "1910 5"
		equal "$triple, $options: of the program" "$(own_sites "$W/log" 1)" "0 0"
		! grep -q ' misuse ' "$W/log" || fail "$triple: $(grep ' misuse ' "$W/log")"
	done
	tried="$tried $triple"
}

tried=
for one in i686-linux-gnu:qemu-i386 arm-linux-gnueabihf:qemu-arm aarch64-linux-gnu:qemu-aarch64 \
	riscv64-linux-gnu:qemu-riscv64; do
	triple=${one%:*} qemu=${one#*:}
	{ command -v "$triple-gcc" && command -v "$qemu"; } >"$W/found" || {
		echo "$triple is left out: no compiler or no emulator"
		continue
	}
	runtime "$triple" CROSS_COMPILE="$triple-"
	# Under qemu-i386 some threads never start, untraced too. The loader runs a program on this
	# machine, if the machine is x86.
	if [ "$qemu" = qemu-i386 ]; then
		loader=/usr/$triple/lib/ld-linux.so.2
		"$loader" --verify "$loader" >"$W/found" 2>&1 || [ $? -lt 126 ] || {
			echo "$triple is left out: this machine does not run its programs"
			continue
		}
		process "$triple" "$triple-gcc" "$loader" --library-path \
			"/usr/$triple/lib:$W/$triple"
	else
		process "$triple" "$triple-gcc" "$qemu" -L "/usr/$triple"
	fi
done
if command -v musl-gcc >"$W/found"; then
	runtime x86_64-linux-musl CC=musl-gcc
	process x86_64-linux-musl musl-gcc env
else
	echo "musl is left out: no musl-gcc"
fi
if has_uclibc; then
	runtime uclibc CC="$uclibc"
	# shellcheck disable=SC2086 # an emulator and its options
	process uclibc "$uclibc" $uclibc_run
else
	echo "uClibc-ng is left out: no $uclibc"
fi
echo "tried:$tried"
[ -n "$tried" ] || skip "no target can be built for"
