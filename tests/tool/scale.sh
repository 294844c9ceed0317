#!/bin/sh
# The tool reports a log of a million lines and a thousand dumps in bounded memory.
#
# It symbolizes ten thousand call sites, and the cost of each does not grow with their number.
# timeout: 300
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh

# make_log DUMPS SITES DEPTH EXE FIRST LAST: prints a log whose offsets spread over [FIRST, LAST).
make_log() {
	awk -v dumps="$1" -v sites="$2" -v depth="$3" -v exe="$4" -v first="$5" -v last="$6" '
	BEGIN {
		name = exe; sub(".*/", "", name)
		for (n = 1; n <= dumps; n++) {
			p = "leakwrap[77." n "] "
			printf "%sdump version=1 reason=signal time=2026-11-20T%02d:%02d:%02dZ ", \
				p, int(n / 3600) % 24, int(n / 60) % 60, n % 60
			printf "program=%s\n", exe
			printf "%stotal live_bytes=%d live_blocks=%d call_sites=%d\n", \
				p, sites * n * 16, sites * n, sites
			for (s = 1; s <= sites; s++) {
				printf "%ssite %d: %d bytes in %d blocks, complete\n", \
					p, s, 16 * n, n
				for (k = 0; k < depth; k++) {
					o = first + (s * 37 + k * 7063) % (last - first)
					printf "%s  #%d 0x%x ? [1] %s+0x%x\n", p, k, o, name, o
				}
			}
			printf "%smodule 1 0x0-0x7fffffff bias=0x0 build_id=none path=%s\n", p, exe
			printf "%send sites=%d lines=%d dump_ns=1\n", \
				p, sites, 4 + sites * (depth + 1)
		}
	}'
}

make_log 1000 100 9 /no/program 4096 900000 >"$W/series"
[ "$(wc -l <"$W/series")" -ge 1000000 ] || fail "the log is too short"
# The limit is 64 MiB of address space more than the libraries take. The log and its output are much
# larger.
limit=$((64 * 1024 + 80 * 1024))
for format in text json folded pprof html; do
	(
		# shellcheck disable=SC3045 # dash has it; a shell without it tests less
		ulimit -v $limit || :
		exec "$lw" report -f $format -o "$W/report" "$W/series"
	) 2>"$W/err" || fail "$format: $(head -n 3 "$W/err")"
	[ -s "$W/report" ] || fail "$format is empty"
done
status_is 0 "$lw" report --growth "$W/series"
shows 'grows steadily by 15,984 bytes'

# The tool itself is a program with much debug information. The log has ten thousand call sites of
# it.
range=$(readelf -SW "$lw" | awk '
	$2 == ".text" || $3 == ".text" { i = $2 == ".text" ? 4 : 5; print "0x" $i, "0x" $(i + 2) }')
first=$((${range% *})) size=$((${range#* }))
make_log 1 10000 24 "$lw" $first $((first + size)) >"$W/sites"
status_is 0 "$lw" report -f json "$W/sites"
equal "call sites" "$(grep -c '"rank":' "$W/out")" 10000
[ "$(grep -o '"line":[0-9]' "$W/out" | wc -l)" -gt 100000 ] || fail "few lines were found"
