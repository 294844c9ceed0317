#!/bin/sh
# go tool pprof finds the dump's totals, functions, lines and build-ids in a profile.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh

build leaky tests/tool/leaky.c -Wl,--build-id
LEAKWRAP_OPTIONS=log="$W/log" "$W/leaky" || fail leaky
status_is 0 "$lw" report -f pprof -o "$W/profile" "$W/log"
gzip -t "$W/profile" || fail "not gzip"

# Folded stacks and the dump have the same total. This needs no reader of profiles.
status_is 0 "$lw" report -f folded "$W/log"
equal "folded total" "$(awk '{ n += $NF } END { print n }' "$W/out")" \
	"$(dump_value "$W/log" 1 live_bytes)"

need go
export HOME="$W" GOCACHE="$W/cache" GOFLAGS=-mod=mod PPROF_TMPDIR="$W"
go tool pprof -raw "$W/profile" >"$W/out" 2>"$W/err" || fail "$(cat "$W/err")"
shows 'inuse_objects/count inuse_space/bytes\[dflt\]'
equal "blocks and bytes" "$(awk '
	/^ *[0-9]+ +[0-9]+: / { sub(":", "", $2); b += $1; n += $2 }
	END { print b, n }' "$W/out")" "3 4301"
mapping="1: 0x[0-9a-f]*/0x[0-9a-f]*/0x0 $W/leaky $(build_id "$W/leaky")"
shows "$mapping *\\[FN\\]\\[FL\\]\\[LN\\]\\[IN\\]"
shows "keep_inlined $PWD/tests/tool/leaky.c:11"
address=$(sed -n 's/.*\]   #0 \(0x[0-9a-f]*\) .*/\1/p' "$W/log" | head -n 1)
shows "^ *[0-9]*: $(add "$address" -1) M=1 " # of the call
go tool pprof -top -sample_index=inuse_space "$W/profile" >"$W/out" 2>"$W/err" ||
	fail "$(cat "$W/err")"
shows '^ *4000B 93.00% .* fill_cache$'
shows '^ *201B  4.67% .* keep_inlined'
go tool pprof -top -cum -sample_index=inuse_objects "$W/profile" >"$W/out" 2>"$W/err" ||
	fail "$(cat "$W/err")"
shows ' 3   100% *main$'

# A profile may be the difference of two dumps.
LEAKWRAP_OPTIONS=log="$W/more" "$W/leaky" 4 || fail leaky
status_is 0 "$lw" diff -f pprof -o "$W/profile" "$W/log" "$W/more"
go tool pprof -top "$W/profile" >"$W/out" 2>"$W/err" || fail "$(cat "$W/err")"
shows '603B .* keep_inlined'
