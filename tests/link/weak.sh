#!/bin/sh
# A program whose objects or archives define wrapped functions weakly runs as untraced, with each
# linker and by leakwrap cc.
#
# ld.lld takes their wrappers for weak, too, and does not look for them by itself.
# timeout: 300
. tests/lib.sh
. tests/tool/tool.sh

LC_ALL=C
export LC_ALL

# The member every_c of the archive names the wrappers of all functions that the C library defines.
archive=$($CC -print-file-name=libc.a)
if [ -f "$archive" ]; then
	leakwrap_flags LEAKWRAP_SYMBOLS | tr ' ' '\n' | sort >"$W/listed"
	sed -n 's/.*globl __wrap_\([A-Za-z0-9_]*\).*/\1/p' "$O/every_c.c" | grep -vx cfree |
		sort >"$W/said"
	nm -g --defined-only "$archive" 2>"$W/errors" | awk 'NF == 3 { print $3 }' | sort -u |
		comm -12 - "$W/listed" >"$W/defined"
	diff "$W/said" "$W/defined" >"$W/difference" ||
		fail "every_c (<) and $archive (>): $(cat "$W/difference")"
fi

cat >"$W/c.c" <<'END'
#include <stdlib.h>
#include <string.h>
__attribute__((weak)) char *strndup(const char *s, size_t n)
{
	char *p = malloc(n + 1);
	p[n] = '\0';
	return memcpy(p, s, n);
}
__attribute__((weak)) char *realpath(const char *a, char *b) { return strdup(b ? b : a); }
END
cat >"$W/main.c" <<'END'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	char *first = strndup("hello world", 5), *second = realpath("/tmp", NULL);

	printf("%s %s %d\n", first, second, sigaction(SIGTERM, &ignore, NULL));
	return 3;
}
END
cat >"$W/cxx.cc" <<'END'
#include <cstdlib>
#include <new>
__attribute__((weak)) void *operator new(std::size_t n) { return std::malloc(n); }
__attribute__((weak)) void operator delete(void *p) noexcept { std::free(p); }
__attribute__((weak)) void operator delete(void *p, std::size_t) noexcept { std::free(p); }
END
cat >"$W/main.cc" <<'END'
#include <cstdio>
#include <string>
struct kept { char bytes[70]; };
kept *volatile all;
int main()
{
	std::string text(300, 'x');
	all = new kept;
	delete new kept;
	std::puts(text.c_str() + 290);
	return 3;
}
END

# runs WHAT COMPILER ARGUMENT...: the program behaves as untraced, and dumps at its end.
runs() {
	what="$1: $*"
	shift
	"$@" -o "$W/plain" 2>"$W/errors" || {
		echo "left out: $what: $(tail -n 1 "$W/errors")"
		return
	}
	"$W/plain" >"$W/plain.out" 2>"$W/errors"
	[ $? = 3 ] || { # MemorySanitizer wants a C++ library of its own
		echo "left out: $what: does not run untraced"
		return
	}
	"$lw" cc -- "$@" -o "$W/traced" 2>"$W/errors" ||
		fail "$what: does not link: $(tail -n 3 "$W/errors")"
	rm -f "$W/log"
	LEAKWRAP_OPTIONS=log=$W/log "$W/traced" >"$W/traced.out" 2>"$W/errors"
	equal "$what: exit status" $? 3
	cmp "$W/plain.out" "$W/traced.out" || fail "$what: another output than untraced"
	dump_is_whole "$W/log" 1 || fail "$what: no whole dump"
}
for linker in bfd gold lld mold; do
	command -v "ld.$linker" >"$W/which" 2>&1 || continue
	for kind in -pie -static; do
		runs C "$CC" -w $kind -fPIE -fno-builtin -fuse-ld=$linker "$W/c.c" "$W/main.c"
		command -v g++ >"$W/which" 2>&1 || continue
		runs C++ g++ $kind -fPIE -fuse-ld=$linker "$W/cxx.cc" "$W/main.cc"
	done
done

# A compiler that links by ld.lld of itself, without -fuse-ld.
if command -v ld.lld >"$W/which" 2>&1; then
	mkdir "$W/lld"
	ln -s "$(command -v ld.lld)" "$W/lld/ld"
	for kind in -pie -static; do
		runs C "$CC" -B "$W/lld" -w $kind -fPIE -fno-builtin "$W/c.c" "$W/main.c"
	done
fi

# The functions that clang's sanitizers replace are weak, too.
if command -v clang >"$W/which" 2>&1 && command -v ld.lld >"$W/which" 2>&1; then
	export ASAN_OPTIONS=detect_leaks=0 LSAN_OPTIONS=detect_leaks=0
	for sanitizer in address undefined leak thread memory; do
		runs C clang -fsanitize=$sanitizer -fuse-ld=lld -w "$W/main.c"
		runs C++ clang++ -fsanitize=$sanitizer -fuse-ld=lld "$W/main.cc"
	done
fi

# Their reports have the names of the untraced program's, and nothing of theirs counts as an escape.
cat >"$W/type.cc" <<'END'
namespace app {
struct wanted { virtual ~wanted() {} virtual int get() { return 1; } };
struct given { virtual ~given() {} virtual int get() { return 2; } };
}
app::given given;
app::wanted *volatile at = (app::wanted *)(void *)&given;
int main() { return at->get(); }
END
command -v clang++ >"$W/which" 2>&1 || exit 0
for linker in bfd gold lld mold; do
	clang++ -fuse-ld=$linker -fsanitize=vptr -w -o "$W/plain" "$W/type.cc" 2>"$W/errors" || {
		echo "left out: $linker: $(tail -n 1 "$W/errors")"
		continue
	}
	"$W/plain" 2>"$W/plain.err"
	grep -q "object is of type 'app::given'" "$W/plain.err" || fail "$(cat "$W/plain.err")"
	"$lw" cc -- clang++ -fuse-ld=$linker -fsanitize=vptr -w -o "$W/traced" "$W/type.cc" ||
		fail "$linker: type.cc does not link"
	LEAKWRAP_OPTIONS=log=$W/log "$W/traced" 2>"$W/traced.err"
	grep -q "object is of type 'app::given'" "$W/traced.err" ||
		fail "$linker: $(cat "$W/traced.err")"
	for sanitizer in address undefined leak thread memory; do
		"$lw" cc -- clang -fsanitize=$sanitizer -fuse-ld=$linker -w -o "$W/traced" \
			"$W/main.c" 2>"$W/errors" || {
			echo "left out: $linker $sanitizer: $(tail -n 1 "$W/errors")"
			continue
		}
		"$lw" audit "$W/traced" >"$W/out" || fail "$linker $sanitizer: no audit"
		! grep -A1 '^escape' "$W/out" || fail "$linker $sanitizer: escapes"
	done
done
