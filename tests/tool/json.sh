#!/bin/sh
# The JSON of real dumps fits its schema, and its numbers are the dump's.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh

${HOSTCC:-cc} -std=gnu11 -O1 -Wall -Wextra -o "$W/validate" tests/tool/validate.c -ljansson ||
	skip "libjansson-dev is not installed"

build chain tests/tool/leaky.c
LEAKWRAP_OPTIONS=log="$W/log" "$W/chain" || fail "leaky"
printf 'leak:make_basket\n' >"$W/suppressions"

for options in "" "--by=function" "--by=file" "--by=module" "--by=member" \
	"--suppressions=$W/suppressions"; do
	# shellcheck disable=SC2086 # none or one
	status_is 0 "$lw" report -f json $options "$W/log"
	"$W/validate" tests/tool/report.schema.json "$W/out" || fail "json $options"
done

# In the JSON of a cut log, an unknown value is null, and a warning says so.
head -n 7 "$W/log" >"$W/cut"
status_is 0 "$lw" report -f json "$W/cut"
"$W/validate" tests/tool/report.schema.json "$W/out" || fail "json of a cut log"
shows '"dump_ns":null'
shows '"warnings":\["line 7: damaged: it has no end'

# A runtime without memory did not find out its program's name.
sed 's/ program=.*/ program=/' "$W/log" >"$W/nameless"
status_is 0 "$lw" report -f json "$W/nameless"
"$W/validate" tests/tool/report.schema.json "$W/out" || fail "json without a program"
shows '"executable":null'
status_is 0 "$lw" report "$W/nameless"
shows '^(unknown program), process '

status_is 0 "$lw" report -f json -o "$W/report.json" "$W/log"
[ ! -s "$W/out" ] || fail "-o writes to standard output as well"
for key in live_bytes live_blocks call_sites tracer_bytes dump_ns; do
	value=$(dump_value "$W/log" 1 $key)
	grep -q "\"$key\":${value}[,}]" "$W/report.json" || fail "$key is not $value"
done
# The validator itself notices a wrong document.
sed 's/"rank":1,/"rank":"1",/' "$W/report.json" >"$W/bad.json"
! "$W/validate" tests/tool/report.schema.json "$W/bad.json" 2>/dev/null ||
	fail "the validator accepts anything"

# The manual pages name every key.
explained() {
	manual_text "tools/man/leakwrap-$1.1" | sed -n '/^JSON/,/^EXIT STATUS/p' >"$W/page"
	shift
	# shellcheck disable=SC1003 # a backslash
	cat "$@" | tr -d '\\' | grep -oE '_json\([a-z_]+, "[a-z_]+"|"[a-z_]+":' |
		grep -oE '"[a-z_]+"' | tr -d '"' | sort -u >"$W/keys"
	[ "$(wc -l <"$W/keys")" -gt 10 ] || fail "no keys in $*"
	while read -r key; do
		grep -qw -e "$key" "$W/page" || fail "no page explains the key $key of $*"
	done <"$W/keys"
}
command -v mandoc >/dev/null || skip "mandoc is not installed"
explained report tools/render/render_json.c
explained torture tools/torture/torture_json.c
