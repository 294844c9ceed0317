#!/bin/sh
# The tool runs clean under AddressSanitizer, LeakSanitizer and UndefinedBehaviorSanitizer.
#
# libFuzzer feeds the parser of logs, the reader of core files and the server for a while.
# FUZZ_SECONDS=N fuzzes longer.
# timeout: 400
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh

build_checked
plain=$lw lw=$O/leakwrap.checked

build leaky tests/tool/leaky.c -Wl,--build-id
LEAKWRAP_OPTIONS=log="$W/series" "$W/leaky" 6 each || fail leaky
LEAKWRAP_OPTIONS=log="$W/old" "$W/leaky" || fail leaky
head -c 3000 "$W/series" >"$W/cut"
build crash tests/unwind/crash_trace.c
LEAKWRAP_OPTIONS=crash=1:log="$W/crashes" sh -c '"$0" SEGV; "$0" jump; "$0" ABRT' "$W/crash" \
	>/dev/null 2>&1
[ "$(dumps "$W/crashes" | wc -l)" = 3 ] || fail crashes
build misuse -static -Wno-error tests/alloc/misuse.c
LEAKWRAP_OPTIONS=misuse=report:exit=0:log="$W/misuses" \
	sh -c '"$0" double; "$0" interior; "$0" stack' "$W/misuse" >/dev/null 2>&1
[ "$(dumps "$W/misuses" | wc -l)" = 3 ] || fail misuses
cat "$W/crashes" "$W/misuses" >>"$W/cut"
printf 'leak:open*\n' >"$W/suppressions"
build wrappers tests/tool/wrappers.c
for rounds in 0 2; do
	LEAKWRAP_OPTIONS=log="$W/cut" "$W/wrappers" $rounds || fail wrappers
done
printf 'skip=^open\nno-skip=zmalloc\n' >"$W/settings"
for format in text json folded pprof html; do
	for options in "" --growth --by=member "--suppressions=$W/suppressions --color=always" \
		--last --all --no-skip \
		--merge "--growth --by=function" "--config=$W/settings --each"; do
		case $options:$format in
		*--by*:folded | *--by*:pprof | *--by*:html) continue ;;
		--merge:json | --merge:folded | --merge:pprof) continue ;;
		esac
		# shellcheck disable=SC2086 # options
		status_is 0 "$lw" report -f $format -o "$W/checked" $options "$W/series" "$W/cut"
		# shellcheck disable=SC2086 # options
		"$plain" report -f $format -o "$W/plain" $options "$W/series" "$W/cut" 2>/dev/null
		cmp -s "$W/checked" "$W/plain" || fail "$format $options: the builds differ"
	done
	status_is 0 "$lw" diff -f $format -o "$W/checked" "$W/old" "$W/series"
done
status_is 0 "$lw" list "$W/series" "$W/cut"
status_is 2 "$lw" diff "$W/cut" "$W/old"
status_is 0 "$lw" audit --strict "$W/leaky"
status_is 1 "$lw" audit --strict "$plain"
status_is 2 "$lw" dump $$
"$lw" cc -- true -c x.c || fail cc

# -- fuzzing ---------------------------------------------------------------------------------------
command -v clang >/dev/null || skip "clang, for the fuzzing, is not installed"
MAKEFLAGS='' make -s O="$O" "$O/leakwrap.fuzz" "$O/leakwrap.fuzz_image" \
	"$O/leakwrap.fuzz_requests" >"$W/make" 2>&1 || {
	grep -q 'cannot find.*fuzzer' "$W/make" &&
		skip "libFuzzer (libclang-rt-dev) is not installed"
	fail "$(tail -n 5 "$W/make")"
}
mkdir "$W/corpus" "$W/found"
head -n 30 "$W/series" >"$W/corpus/series"
head -n 12 "$W/old" >"$W/corpus/cut"
cp "$W/crashes" "$W/corpus/crashes"
head -n 9 "$W/crashes" >"$W/corpus/crash_alone"
for kind in crash misuse; do
	case $kind in crash) from=$W/crashes ;; misuse) from=$W/misuses ;; esac
	sed 's/.*] /leakwrap[1.1] /' "$from" | head -n 30 |
		shuf --random-source="$W/old" >"$W/corpus/${kind}_shuffled"
done
cp "$W/misuses" "$W/corpus/misuses"
sed 's/$/\r/' "$W/old" >"$W/corpus/crlf"
paste -d '\n' "$W/old" "$W/series" | head -n 60 >"$W/corpus/mixed"
sed 's/.*] /leakwrap[1.1] /' "$W/old" | shuf --random-source="$W/old" >"$W/corpus/shuffled"
sed -n 'p; s/module \([0-9]*\) 0x\(.*\)-0x\(.*\) bias=0x/module 9\1 0x1\2-0x1\3 bias=0x1/p' \
	"$W/old" | grep -v ' #' >"$W/corpus/moved"
cat >"$W/words" <<'END'
"leakwrap[1.1] "
"leakwrap[1.2] "
"dump version=1 "
"reason=crash "
"reason=misuse "
"misuse double_free pointer=0x"
" function="
"misuse released"
"misuse block address=0x"
" bytes="
"crash signal="
" code=-"
" fault_address=0x"
" thread="
"registers rip=0x"
"total live_bytes="
"site 1: "
" bytes in "
" blocks, complete"
"  #0 0x"
"module 1 0x"
" bias=0x"
" path="
"end sites="
" lines="
" [1] "
END
for log in "$W"/corpus/*; do
	status=0
	"$lw" report -f json "$log" >/dev/null 2>"$W/err" || status=$?
	[ $status != 1 ] || fail "$log: $(head -n 20 "$W/err")"
done
# fuzz PROGRAM SECONDS ARGUMENT...: a finding is a failure.
fuzz() {
	fuzzer=$O/$1 seconds=$2
	shift 2
	"$fuzzer" -dict="$W/words" -artifact_prefix="$W/found/" -timeout=20 -seed=1 \
		-max_total_time="${FUZZ_SECONDS:-$seconds}" "$@" "$W/corpus" >"$W/out" 2>&1 ||
		fail "$fuzzer: $(ls "$W/found"): $(tail -n 20 "$W/out")"
}
fuzz leakwrap.fuzz 8 -max_len=4096 -close_fd_mask=3

# Core files, with live blocks.
rm -r "$W/corpus"
mkdir "$W/corpus"
cc -c -o "$W/core.o" tests/tool/tiny_core.S || fail "tiny_core.S"
objcopy -O binary "$W/core.o" "$W/corpus/core"
fuzz leakwrap.fuzz_image 4 -max_len=2048

# Requests: no answer is no HTTP, and none opens a file.
rm -r "$W/corpus"
mkdir "$W/corpus"
request=0
# write_request METHOD PATH LINES: adds a request to the corpus.
write_request() {
	request=$((request + 1))
	printf "%s %s HTTP/1.1\r\nHost: localhost\r\n$3" "$1" "$2" >"$W/corpus/$request"
}
for path in / /all/ /metrics /dumps '/debug/pprof/heap?debug=1' '/debug/pprof/heap?seconds=3' \
	/all/data.json /process/one/pprof/heap /process/1/ '/process/4/pprof/heap?seconds=2' \
	/process/two/pprof/cmdline /process/3/dump /process/%74wo/dump /process/one/dump; do
	write_request GET "$path" '\r\n'
done
write_request POST /process/1/pprof/symbol 'Content-Length: 15\r\n\r\n0x10100+0x10200'
write_request POST /pprof/symbol \
	'Transfer-Encoding: chunked\r\n\r\n8\r\n0x10100+\r\n0\r\n\r\n'
cat >"$W/words" <<'END'
"GET "
"POST "
"HEAD "
" HTTP/1.1\x0d\x0a"
"Host: localhost\x0d\x0a"
"Content-Length: "
"Transfer-Encoding: chunked\x0d\x0a"
"Expect: 100-continue\x0d\x0a"
"\x0d\x0a\x0d\x0a"
"/process/"
"/all/"
"/metrics"
"data.json"
"debug/pprof/"
"pprof/symbol"
"pprof/cmdline"
"?seconds="
"&debug=1"
"%2e%2e%2f"
"%00"
"one"
"0x10100"
END
fuzz leakwrap.fuzz_requests 5 -max_len=2048
