#!/bin/sh
# From a log, no control character and no control of the direction of text reaches a terminal or a
# page; other characters do.
# timeout: 300
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh
need python3

# C1 controls as UTF-8 and as bytes, every control of direction, DEL, a separator, and broken UTF-8
bad='\x1b[31m\x7f\xc2\x9b31m\xc2\x9d0;x\x9b31m\x9d'
bad="$bad"'\xe2\x80\xaa\xe2\x80\xab\xe2\x80\xac\xe2\x80\xad\xe2\x80\xaecba\xe2\x81\xa6\xe2\x81\xa7'
bad="$bad"'\xe2\x81\xa8\xe2\x81\xa9\xe2\x80\x8e\xe2\x80\x8f\xd8\x9c\xe2\x80\xa8'
bad="$bad"'\xed\xa0\x80\xc0\xaf\xff\xe2\x80'
good='\xc3\xa9\xe6\xbc\xa2\xf0\x9f\x90\x9b'
# unescape TEXT: the bytes of it
unescape() {
	python3 -c 'import sys
text = sys.argv[1].encode().decode("unicode_escape")
sys.stdout.buffer.write(text.encode("latin-1"))' "$1"
}
raw=$(unescape "$bad$good" | tr -d '\033\177')
letters=$(unescape "$good")

# Escaped as the runtime does it, and as they are.
for name in "$bad$good" "$raw"; do
	{
		echo "200 1 complete 0x10 0x20"
		echo "100 1 complete 0x30 0x20"
	} | make_dump 7.1 2026-11-20T18:36:01Z /no/such/program 0x10000 none >"$W/plain"
	N=$name python3 - "$W/plain" >"$W/log" <<'END2'
import os, sys
name = os.environb[b"N"]
for line in open(sys.argv[1], "rb"):
    line = line.rstrip(b"\n")
    line = line.replace(b" ? [1]", b" f" + name + b"+0x1 [1]")
    line = line.replace(b"program=", b"program=/x" + name).replace(b"path=", b"path=/y" + name)
    line = line.replace(b", complete", b", complete task=t" + name)
    print_line = sys.stdout.buffer.write
    print_line(line + b"\n")
    if b" dump version" in line:
        print_line(b"leakwrap[7.1] note n" + name + b"\nleakwrap[7.1] command c" + name + b"\n")
END2
	sed -i 's/lines=9/lines=11/' "$W/log"
	sed 's/7\.1/7.2/; s/ 200 bytes/ 300 bytes/; s/36:01/36:02/' "$W/log" >"$W/log2"
	cat "$W/log" "$W/log2" >"$W/both"
	is_clean() {
		status_is 0 "$lw" "$@"
		python3 - "$W/out" "$W/err" "$*" <<'END2' || fail "what $* wrote"
import sys, unicodedata
turning = ("LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI")
for file in sys.argv[1:3]:
    for number, line in enumerate(open(file, "rb").read().split(b"\n"), 1):
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            sys.exit(f"{sys.argv[3]}: {file}:{number}: {error}")
        for c in text:
            hidden = unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") and c != "\t"
            if hidden or unicodedata.bidirectional(c) in turning or c in "\u200e\u200f\u061c":
                sys.exit(f"{sys.argv[3]}: {file}:{number}: U+{ord(c):04X}")
END2
		case $* in
		*pprof*) ;;
		*) grep -q "$letters" "$W/out" || fail "$*: no other characters" ;;
		esac
	}
	for format in text json folded html; do
		is_clean report -f $format "$W/log"
		is_clean diff -f $format "$W/log" "$W/log2"
		is_clean report -f $format --growth "$W/both"
	done
	is_clean report --by=function "$W/log"
	is_clean report --merge "$W/log"
	is_clean list "$W/log"

	# JSON has the characters, the page and profiles have no such text.
	status_is 0 "$lw" report -f json "$W/log"
	python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$W/out" || fail "no JSON"
	status_is 0 "$lw" report -f pprof -o "$W/profile" "$W/log"
	gzip -dc <"$W/profile" | grep -aq "$(printf '\033\\|\302\233\|\342\200\256')" &&
		fail "a profile with controls"
done
exit 0
