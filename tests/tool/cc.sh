#!/bin/sh
# leakwrap cc adds its flags exactly if the compiler links a program.
#
# A project that knows nothing of it relinks by make CC="leakwrap cc -- gcc".
# timeout: 300
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh
need prlimit

# This compiler only prints its arguments.
cat >"$W/echo" <<'END'
#!/bin/sh
printf '%s\n' "$@" >"$ECHOED"
exit 7
END
chmod +x "$W/echo"
ln -s echo "$W/g++"
export ECHOED="$W/words" LEAKWRAP_LIB="$O/libleakwrap.a"
touch "$W/a.c" "$W/a.o" "$W/a.h"

called() {
	"$lw" cc -- "$@"
	equal "status of $*" $? 7
}
plain() {
	called "$W/echo" "$@"
	printf '%s\n' "$@" | cmp -s - "$W/words" || fail "changed: $*: $(tr '\n' ' ' <"$W/words")"
}
links() {
	called "$W/echo" "$@"
	grep -qx -e '-Wl,--wrap=malloc' "$W/words" || fail "not wrapped: $*"
	grep -q 'libleakwrap.a' "$W/words" || fail "without the library: $*"
	grep -v '/keep_allocator\.o$' "$W/words" >"$W/given"
	equal "the words given, of $*" "$(head -n $# "$W/given" | tr '\n' ' ')" \
		"$(printf '%s ' "$@")"
}
cd "$W" || exit 2
for stop in -c -S -E -M -MM -fsyntax-only -shared --shared -r -### --version -dumpmachine \
	-print-search-dirs \
	--print-file-name=x -nostdlib -nostartfiles -Wl,-r -Wl,-shared,-z,now --help; do
	plain $stop a.c
done
plain -nodefaultlibs a.c
plain -nostdlib a.c -lc
plain
plain -v
plain -Wall -O2
plain -Xlinker -shared a.o
plain a.h
plain -x c-header a.h
plain -x c++-system-header vector
plain -xc-header a.c
plain -o a.c
plain a.o libleakwrap.a -Wl,--wrap=malloc
plain a.o -Wl,-u,leakwrap_wraps_are_complete
plain a.o -Xlinker leakwrap_wraps_are_complete
printf -- '-c "a.c"' >rsp
plain @rsp
printf -- "-c -o 'x y'" >rsp2
printf -- '@rsp2 a.c' >rsp
plain @rsp
# It costs memory in proportion to its size.
{
	echo -c
	seq -f 'folder/of/source%.0f.c' 60000
} >rsp
status_is 7 prlimit --as=500000000 "$lw" cc -- "$W/echo" @rsp
equal "words of a long response file" "$(cat words)" @rsp

links a.c
links a.o -o app
links -o -c a.o
links -MF -c a.o
links -MMD -MF dep a.c -o app
links -I -c a.c
links -D -c a.c
links -static a.o
links -Wl,-z,now a.o
links -Wl,--wrap=malloc a.o # for a wrapper of its own
links a.o libleakwrap.a
links -nodefaultlibs a.o -lgcc_s -lc
links -nodefaultlibs a.o -l c
links -nodefaultlibs a.o -lgcc -lc
equal "behind the runtime" "$(tail -n 1 words)" -lgcc
links -nostdlib crt1.o lib/crtbegin.o a.o -lc
links -- a.o
links a.o @nofile
printf -- '-o app\n"a.o"\\\n' >rsp
links @rsp
links -x c -
called "$W/echo" a.o
equal "in front of libraries" "$(head -n 1 words | sed 's/.*keep/keep/')" keep_allocator.o
called "$W/echo" -static a.o
! grep -q keep_allocator words || fail "keeps a shared allocator for -static"
# The last of such words for the linker decides.
for kind in -static,-Bdynamic:0 -Bdynamic,-Bstatic:1 -dn,-lx,-dy:0 -non_shared:1; do
	called "$W/echo" a.o -Wl,${kind%:*}
	equal "$kind" "$(grep -cx -e -Wl,-Bstatic words)" ${kind#*:}
done
links a.o -Wl,--push-state,-Bstatic -lx -Wl,--pop-state
! grep -qx -e -Wl,-Bstatic words || fail "static behind --pop-state"
called "$W/echo" a.o -Wl,-Bstatic,--push-state,-Bdynamic -lx -Wl,--pop-state
equal "static behind --pop-state" "$(grep -cx -e -Wl,-Bstatic words)" 1
called "$W/echo" -o x.c "$W/g++" -o x.o -x c 5 a.o -lx
equal "in front of the first input" "$(grep -A 1 keep_allocator words | tail -n 1)" a.o
links a.o -fno-sanitize=all
grep -q lleakwrap_process words || fail "not the whole process"
links a.o -fsanitize=address,undefined
! grep -q lleakwrap_process words || fail "the whole process with a sanitizer"
! grep -qx -e -x words ||
	equal "-x none before the archive" "$(grep -x -A 1 -e -x words | tail -n 1)" none
called "$W/echo" a.o
! grep -q 'lstdc++' words || fail "the C++ library for C"
called "$W/g++" a.o
grep -q 'lstdc++' words || fail "no C++ library for g++"
called "$W/g++" -stdlib=libc++ a.o # two C++ libraries do not catch each other's exceptions
! grep -q 'lstdc++' words || fail "the other C++ library beside libc++"
grep -q 'lc++,-lc++abi,' words || fail "no libc++"
called "$W/echo" a.o -lstdc++
grep -q 'lstdc++,' words || fail "no C++ library with -lstdc++"
for library in -l:libstdc++.a -Wl,-l:libstdc++.a lib/libstdc++.a; do
	called "$W/echo" a.o $library
	grep -q -e '-Bstatic,-lstdc++,' words || fail "no static C++ library with $library"
done
for words in "-Wl,-Bstatic -lstdc++ -Wl,-Bdynamic" -Wl,-Bstatic,-lstdc++,-Bdynamic \
	"-Wl,--push-state,-Bstatic -l stdc++ -Wl,--pop-state"; do
	# shellcheck disable=SC2086 # words
	called "$W/echo" a.o $words
	grep -q -e '-Bstatic,-lstdc++,-Bdynamic,-lm' words ||
		fail "no static C++ library with $words"
done
called "$W/echo" -static a.o -lc++
grep -q 'lc++,-lc++abi,' words || fail "no libc++ with -lc++"
called "$W/echo" --driver-mode=g++ a.o
grep -q 'lstdc++' words || fail "no C++ library with --driver-mode=g++"
called "$W/echo" a.o -l:libc++.a
grep -q -e '-Bstatic,-lc++,' words || fail "no static C++ library with libc++.a"
called "$W/echo" "$W/g++" a.o
grep -q 'lstdc++' words || fail "no C++ library for g++ behind another command"
for compiler in mpicxx.openmpi icpx; do
	ln -s echo "$W/$compiler"
	called "$W/$compiler" a.o
	grep -q 'lstdc++' words || fail "no C++ library for $compiler"
done
for linker in -fuse-ld=lld -fuse-ld=lld-14 --ld-path=ld.lld -fuse-ld=/usr/bin/ld.lld; do
	for static in "" -static; do
		called "$W/echo" $static $linker a.o
		grep -qx -e "-Wl,-u,leakwrap_every_c" words ||
			fail "weak wrappers for $static $linker"
		! grep -q every_cxx words || fail "operators for C"
	done
	called "$W/g++" $linker a.o
	grep -qx -e "-Wl,-u,leakwrap_every_cxx" words || fail "operators for $linker"
done
cd - >/dev/null || exit 2

status_is 127 "$lw" cc -- "$W/no-compiler" -c x.c
said 'no-compiler: No such file'
status_is 2 "$lw" cc
for linker in ld arm-linux-gnueabihf-ld.bfd; do
	status_is 2 "$lw" cc -- $linker x.o
	said "cc: $linker is no compiler; leakwrap flags --ld"
done
status_is 127 "$lw" cc -- "$W/ld" -r x.o
LEAKWRAP_LIB=$W/nolib.a "$lw" cc -- "$CC" -o "$W/app" tests/tool/leaky.c 2>"$W/err"
equal "status without a library" $? 2
said "^leakwrap: LEAKWRAP_LIB=$W/nolib.a: No such file"
for file in tests/tool/leaky.c tests/tool /dev/null; do
	LEAKWRAP_LIB=$file "$lw" cc -- "$CC" -o "$W/app" tests/tool/leaky.c 2>"$W/err"
	equal "status with $file as the library" $? 2
	said "^leakwrap: LEAKWRAP_LIB=$file"
	equal "messages" "$(wc -l <"$W/err")" 1
done
# A thin archive names its members, which are files beside it.
mkdir "$W/thin"
(cd "$W/thin" && ar x "$O/libleakwrap.a" && ar rcsT libleakwrap.a ./*.o) || fail "no thin archive"
LEAKWRAP_LIB=$W/thin/libleakwrap.a "$lw" cc -- "$CC" -o "$W/app" tests/tool/leaky.c 2>"$W/err"
equal "status with a thin archive" $? 0
mkdir "$W/tools,v2"
ln -s "$O" "$W/tools,v2/build"
LEAKWRAP_LIB=$W/tools,v2/build/libleakwrap.a "$lw" cc -- "$CC" -o "$W/app" tests/tool/leaky.c \
	2>"$W/err" && fail "a comma in the archive's path"
said 'v2/build/libleakwrap.a has a comma in its path'
unset LEAKWRAP_LIB # the default library lies beside the tool
"$lw" cc -- "$CC" -g -O2 -o "$W/app" tests/tool/leaky.c || fail "cannot build through cc"
LEAKWRAP_OPTIONS=log="$W/log" "$W/app" || fail "app"
status_is 0 "$lw" report "$W/log"
shows '4,301 bytes (4.20 KiB) live in 3 blocks'

# rustc links so with crt-static.
for static in -static -static-pie; do
	"$lw" cc -- "$CC" -fPIE $static -nodefaultlibs -o "$W/app" tests/tool/leaky.c \
		-lc -lgcc -lgcc_eh -lc -Wl,-Bdynamic \
		2>"$W/err" || fail "$static -Bdynamic: $(tail -n 3 "$W/err")"
	rm -f "$W/log"
	LEAKWRAP_OPTIONS=log="$W/log" "$W/app" || fail "$static -Bdynamic: does not run"
	status_is 0 "$lw" report "$W/log"
	shows ' main  *'
done

# These programs neither allocate nor free by the C++ library that they are linked with.
echo 'int main() {}' >"$W/empty.cc"
"$lw" cc -- "$CC" -o "$W/app" tests/tool/leaky.c -lstdc++ || fail "cannot link with -lstdc++"
if command -v g++ >/dev/null; then
	for flags in "" -static -static-libstdc++ "-static -static-libstdc++"; do
		# shellcheck disable=SC2086 # one or none
		"$lw" cc -- g++ $flags -o "$W/app" "$W/empty.cc" 2>"$W/err" ||
			fail "g++ $flags: $(tail -n 3 "$W/err")"
		LEAKWRAP_OPTIONS=log="$W/empty.log" "$W/app" || fail "g++ $flags: does not run"
	done
	echo 'int main() { return *new int(7); }' >"$W/new.cc"
	g++ -c -o "$W/new.o" "$W/new.cc" || fail "g++ -c"
	for library in -l:libstdc++.a "$(g++ -print-file-name=libstdc++.a)"; do
		for static in "" -static; do
			"$lw" cc -- gcc $static "$W/new.o" "$library" -o "$W/app" 2>"$W/err" ||
				fail "gcc $static $library: $(tail -n 3 "$W/err")"
			LEAKWRAP_OPTIONS=log="$W/empty.log" "$W/app"
			equal "gcc $static $library" $? 7
		done
	done
fi

# A project that was never prepared has a library, two programs, a test for the compiler, and
# response files.
mkdir -p "$W/project"
cp tests/tool/leaky.c "$W/project/leaky.c"
cat >"$W/project/Makefile" <<'END'
all: leaky plugin.so tool
libhelp.a: help.o
	$(AR) rcs $@ $^
leaky: leaky.o
tool: tool.o libhelp.a
	echo "$^ -o $@" >tool.rsp
	$(CC) @tool.rsp
plugin.so: help.c
	$(CC) -shared -fPIC -o $@ $<
	! nm $@ | grep __wrap_
END
cat >"$W/project/help.c" <<'END'
char *help(const char *);
extern char *strdup(const char *);
char *help(const char *s) { return strdup(s); }
END
echo 'char *help(const char *); int main(void) { return help("me") == 0; }' >"$W/project/tool.c"
make -s -C "$W/project" CC="$lw cc -- $CC" CFLAGS="-O1 -g" || fail "the project does not build"
LEAKWRAP_OPTIONS=log="$W/tool.log" "$W/project/tool" || fail tool
status_is 0 "$lw" report "$W/tool.log"
shows '3 bytes live in 1 block at 1 call site'
shows 'help  *'

# The compiler's words end before its source files, in whatever order they stand.
export XDG_CACHE_HOME="$W/cache"
mkdir -p "$W/short"
cp tests/tool/leaky.c "$W/short/m.c"
ln -s "$(command -v "$CC")" "$W/short/other-name"
printf '#!/bin/sh\nexec "$@"\n' >"$W/short/ccache"
chmod +x "$W/short/ccache"
"$CC" -c -o "$W/short/m.o" "$W/short/m.c" || fail "m.o"
echo 'int own; ' >"$W/short/own.c"
for words in "$CC m.c" "$CC m.o own.c" "./ccache $CC m.c" "./other-name m.c" \
	"./ccache ./other-name m.o own.c"; do
	rm -f "$W/short/x"
	# shellcheck disable=SC2086 # words
	(cd "$W/short" && "$lw" cc --options=exit=0 -- $words -o x) >"$W/out" 2>&1 ||
		fail "$words: $(cat "$W/out")"
	rm -f "$W/log"
	LEAKWRAP_OPTIONS=log="$W/log" "$W/short/x" || fail "$words: does not run"
	[ ! -s "$W/log" ] || fail "$words: without its options"
done
# The cache keeps one result for each compiler, not for each program.
equal "results in the cache" "$(find "$W/cache/leakwrap" -name '*.a' | wc -l)" 4
touch -d '10 days ago' "$W/cache/leakwrap"/*
status_is 0 "$lw" cc --options=exit=1 -- "$CC" "$W/short/m.c" -o "$W/short/x"
equal "results after some days" "$(find "$W/cache/leakwrap" -name '*.a' | wc -l)" 1
status_is 0 "$lw" cc --options= -- "$CC" "$W/short/m.c" -o "$W/short/x"

# Another version of the compiler, or of what generates, makes the results anew.
ln -s "$(command -v "$CC")" "$W/short/tcc"
mkdir "$W/lib"
ln -s "$O/libleakwrap.a" "$W/lib"
cp -r "$O/generator" "$W/lib"
results() {
	PATH=$W/short:$PATH LEAKWRAP_LIB=$W/lib/libleakwrap.a \
		"$lw" flags --options=exit=0 -- tcc >"$W/out" || fail "flags"
	find "$W/cache/leakwrap" -name '*.a' | wc -l
}
before=$(results)
equal "results of the same" "$(results)" "$before"
printf '#!/bin/sh\nexec %s "$@"\n' "$CC" >"$W/short/new"
chmod +x "$W/short/new"
mv "$W/short/new" "$W/short/tcc"
equal "results of another compiler" "$(results)" $((before + 1))
for file in generate.sh check_options.awk wrapper.h flags options; do
	touch -d '1 day ago' "$W/lib/generator/$file"
done
equal "results of another generator" "$(results)" $((before + 2))

# The runtime's compiler need not be the link's.
for compiler in gcc clang; do
	command -v $compiler >"$W/which" 2>&1 || continue
	status_is 0 "$lw" cc --options=exit=0 -- $compiler "$W/short/m.c" -o "$W/short/x"
	status_is 0 "$lw" flags --allocator=malloc=f --output="$W/short/flags" -- $compiler
done

# The reason of a compiler that fails, in one line.
reason='compiles not even an empty file with the flags of this link: '
status_is 2 "$lw" cc --allocator=malloc=f -- "$CC" -mno-such-flag "$W/short/m.c"
said "^leakwrap: $CC $reason.*no-such-flag"
printf '#!/bin/sh\necho no licence >&2\nexit 1\n' >"$W/short/tcc"
chmod +x "$W/short/tcc"
status_is 2 "$lw" cc --options=exit=0 -- "$W/short/tcc" "$W/short/m.c"
said "/tcc ${reason}no licence\$"

# A wrapper of the compiler may leave a server behind, which has its files open.
# shellcheck disable=SC2016 # for the wrapper
printf '#!/bin/sh\nsleep 300 &\necho $! >>"$SERVERS"\nexec %s "$@"\n' "$CC" >"$W/short/gcc"
chmod +x "$W/short/gcc"
export SERVERS="$W/servers"
status=0
timeout 60 "$lw" cc -- "$W/short/gcc" "$W/short/m.c" -o "$W/short/x" >"$W/out" 2>&1 || status=$?
# shellcheck disable=SC2046 # numbers
kill $(cat "$SERVERS")
equal "with a server of the compiler's: status" $status 0

# Flags that select the target come with their arguments, also from a response file. Arguments of
# other flags are none.
cat >"$W/short/tcc" <<'END'
#!/bin/sh
echo "$@" >>"$ECHOED"
exit 1
END
echo '-mllvm -x=1' >"$W/short/rsp"
flags="-B $W --sysroot / -target t --target=t -m32"
rm -f "$ECHOED"
# shellcheck disable=SC2086 # words
status_is 2 "$lw" cc --options=exit=0 -- "$W/short/tcc" -Xclang -mno-x -o -m.o $flags \
	"@$W/short/rsp" "$W/short/m.c" -I -B
said '/tcc compiles not even an empty file with the flags of this link: it says nothing$'
equal "flags of the target" "$(head -n 2 "$ECHOED")" "$flags -mllvm -x=1 -Wl,--version
$flags -mllvm -x=1 -dumpmachine"

# ccache in front of the tool takes it for a compiler that knows "--".
status_is 0 "$lw" cc "$CC" -c -o "$W/short/cc.o" -- "$W/short/m.c"
for compiler in "$CC" clang; do
	command -v "$compiler" >"$W/which" 2>&1 || continue
	status_is 0 "$lw" cc "$compiler" -o "$W/short/linked" -- "$W/short/m.c"
done
if command -v ccache >"$W/which" 2>&1; then
	for compile in "ccache $lw cc -- $CC" "$lw cc -- ccache $CC"; do
		export CCACHE_DIR="$W/ccache"
		for _ in 1 2; do
			rm -f "$W/short/cc.o"
			# shellcheck disable=SC2086 # words
			$compile -c -o "$W/short/cc.o" "$W/short/m.c" || fail "$compile"
		done
		# shellcheck disable=SC2086 # words
		$compile "$W/short/cc.o" -o "$W/short/x" || fail "$compile: link"
		nm "$W/short/x" | grep -q __wrap_malloc || fail "$compile: not wrapped"
	done
fi

# Twice in one command it acts once, with the options of both.
status_is 0 "$lw" cc --options=exit=1 -- "$lw" cc --options=exit=0 -- "$CC" "$W/short/m.c" \
	-o "$W/short/x"
rm -f "$W/log"
LEAKWRAP_OPTIONS=log=$W/log "$W/short/x" || fail "twice: does not run"
[ ! -s "$W/log" ] || fail "twice: without the option beside the compiler"

# These are the tool's own options.
status_is 0 "$lw" cc --options exit=0 -- "$CC" "$W/short/m.c" -o "$W/short/x"
status_is 2 "$lw" cc --options -- "$CC" "$W/short/m.c"
said '^leakwrap: cc: --options needs a value: --options=VALUE$'
status_is 2 "$lw" cc --allocator
said '^leakwrap: cc: --allocator needs a value'
status_is 2 "$lw" cc --allocators=my_ -- "$CC" "$W/short/m.c"
said "^leakwrap: cc: unknown option '--allocators=my_'"

# Compilers that do not hand gcc's words to their linker would link an untraced program.
status_is 2 "$lw" cc -- rustc main.rs -o main
said '^leakwrap: cc: rustc does not take .* as in rustc -C linker=./script$'
status_is 2 "$lw" cc -- ccache /usr/bin/ghc-9.0.2 Main.hs
said '^leakwrap: cc: /usr/bin/ghc-9.0.2 does not take .* as in ghc -pgml ./script$'
status_is 2 "$lw" cc -- fpc program.pas
said '^leakwrap: cc: fpc calls ld itself'

# Scripts that run gcc may have similar names.
for name in go-gcc ghc-cc go-run; do
	printf '#!/bin/sh\nexec %s "$@"\n' "$CC" >"$W/$name"
	chmod 755 "$W/$name"
	status_is 0 "$lw" cc -- "$W/$name" -c "$W/short/m.c" -o "$W/named.o"
done
printf '#!/bin/sh\nexec "$@"\n' >"$W/go"
chmod 755 "$W/go"
status_is 0 "$lw" cc -- "$W/go" "$CC" -c "$W/short/m.c" -o "$W/named.o"

# A program with a wrapper of its own is traced below it.
cat >"$W/own.c" <<'END'
#include <stdlib.h>
void *__real_malloc(size_t);
void *__wrap_malloc(size_t);
extern void *kept;
static int calls;
void *__wrap_malloc(size_t size)
{
	calls++;
	return __real_malloc(size);
}
int main(void)
{
	void *leak(void);
	kept = leak();
	return calls;
}
END
cat >"$W/leak.c" <<'END'
#include <stdlib.h>
void *kept;
void *leak(void);
void *leak(void) { return malloc(77); }
END
"$lw" cc -- "$CC" -fno-builtin -Wl,--wrap=malloc "$W/own.c" "$W/leak.c" -o "$W/own" || fail "own"
rm -f "$W/log"
LEAKWRAP_OPTIONS=log=$W/log "$W/own"
equal "calls of the program's own wrapper" $? 1
equal "leaks below it" "$(site_by "$W/log" 1 __wrap_malloc)" "77 1"

# flags has the words of each kind of link, under long and short names of its options.
# prints_for WORDS COMPILER [FLAG...]: links a leaking program with what flags WORDS prints, and
# runs it.
prints_for() {
	words=$1
	shift
	# shellcheck disable=SC2046,SC2086 # lists of words
	"$@" -o "$W/app" "$W/new.cc" $("$lw" flags $words) 2>"$W/err" ||
		fail "flags $words: $(tail -n 3 "$W/err")"
	rm -f "$W/log"
	LEAKWRAP_OPTIONS=log="$W/log" "$W/app" || fail "flags $words: does not run"
	equal "flags $words" "$(site_by "$W/log" 1 main)" "77 1"
}
cat >"$W/new.cc" <<'END'
char *volatile kept;
int main()
{
	kept = new char[77];
	return 0;
}
END
for words in "--cxx -+" "--static-libstdcxx -S" "--lld -l" "--static -s" "--program-only -p" \
	"--ld -L"; do
	"$lw" flags "${words% *}" >"$W/long-words" || fail "flags ${words% *}"
	"$lw" flags "${words#* }" >"$W/short-words" || fail "flags ${words#* }"
	cmp "$W/long-words" "$W/short-words" || fail "flags $words: they differ"
	! "$lw" flags | cmp -s "$W/long-words" - || fail "flags $words: changes nothing"
done
if command -v g++ >"$W/which" 2>&1; then
	prints_for "" g++
	prints_for --program-only g++
	prints_for "--cxx --static" g++ -static
	prints_for --static-libstdcxx g++ -static-libstdc++
	if command -v ld.lld >"$W/which" 2>&1; then
		prints_for --lld g++ -fuse-ld=lld
		prints_for "--lld --cxx --static" g++ -fuse-ld=lld -static
		prints_for "--lld --static-libstdcxx" g++ -fuse-ld=lld -static-libstdc++
	fi
fi
(cd "$W" && "$lw" flags --output=- >"$W/dash" && [ ! -e ./- ]) || fail "flags --output=-"
"$lw" flags | cmp -s - "$W/dash" || fail "flags --output=- is not standard output"
"$lw" flags --lld >"$W/out"
shows '^-Wl,-u,leakwrap_every_c$\|[ ]-Wl,-u,leakwrap_every_c '
shows_not leakwrap_every_cxx
for words in "--lld --cxx" "--lld --static-libstdcxx"; do
	# shellcheck disable=SC2086 # a list of words
	"$lw" flags $words >"$W/out"
	shows 'leakwrap_every_cxx'
done

# A link that calls the linker itself gets the same words, as the compiler would hand them on.
for words in "" --options=exit=0; do
	# shellcheck disable=SC2086 # one or none
	"$lw" flags $words --ld >"$W/out" || fail "flags --ld"
	shows_not 'Wl\|@'
	shows '^--wrap=malloc .* --start-group .*/libleakwrap.a -lc --end-group$'
	[ -z "$words" ] || shows ' -u leakwrap_link_options '
done
at=$("$CC" -print-file-name=crt1.o)
if [ -f "$at" ] && command -v ld >"$W/which" 2>&1; then
	"$CC" -fno-pie -c -o "$W/leaky.o" tests/tool/leaky.c || fail "leaky.o"
	# shellcheck disable=SC2046 # lists of words
	ld -static -o "$W/app" "$at" "${at%1.o}i.o" "$W/leaky.o" -L"${at%/*}" \
		$("$lw" flags --ld --static) --start-group -lc \
		"$("$CC" -print-libgcc-file-name)" "$("$CC" -print-file-name=libgcc_eh.a)" \
		--end-group "${at%1.o}n.o" 2>"$W/err" || fail "ld: $(tail -n 3 "$W/err")"
	rm -f "$W/log"
	LEAKWRAP_OPTIONS=log="$W/log" "$W/app" || fail "ld: does not run"
	status_is 0 "$lw" report "$W/log"
	shows ' main  *'
fi

# A compiler for another target than the archive's is refused before it runs.
case $("$CC" -dumpmachine) in
aarch64*) other=arm-linux-gnueabihf ;;
*) other=aarch64-linux-gnu ;;
esac
for compiler in "$other-gcc" "clang --target=$other" "clang -target $other"; do
	# shellcheck disable=SC2086 # a command
	status_is 2 "$lw" cc -- $compiler -o "$W/app" tests/tool/leaky.c
	said "^leakwrap: $O/libleakwrap.a is for another processor than $other.* LEAKWRAP_LIB "
done
if grep -q __register_atfork "$O/libleakwrap.a"; then
	status_is 2 "$lw" cc -- musl-gcc -o "$W/app" tests/tool/leaky.c
	said "^leakwrap: $O/libleakwrap.a is for glibc, and the compiler links with musl"
fi
