#!/bin/sh
# The rule cache gives the same rules as readelf --debug-dump=frames-interp.
#
# The test looks at the return address of every call in prebuilt archives. In some archives it looks
# at every instruction, because a signal may come there. It counts the tables' rows that no rule can
# represent. Each archive is linked whole into a program, which is never run.
# timeout: 600
. tests/lib.sh

case $($CC -dumpmachine) in
x86_64-*) ;;
*) skip "the registers are those of x86-64" ;;
esac

build_plain sweep tests/unwind/against_readelf.c tests/unwind/stand_ins.c wrap/unwind/rule_cache.c \
	wrap/unwind/eh_frame.c wrap/unwind/fde.c wrap/unwind/cfa_program.c wrap/unwind/dwarf_expr.c

# addresses IMAGE WHAT: prints the return address of each call, or the address of each instruction,
# in 16 digits.
# shellcheck disable=SC2016 # $1 is awk's
addresses() {
	objdump -dw "$1" | awk -F '\t' -v all="$([ "$2" = calls ] || echo 1)" '
		$1 !~ /^ *[0-9a-f]+:$/ { next }
		{ at = $1; gsub(/[ :]/, "", at) }
		was_call || all { print substr("0000000000000000" at, length(at) + 1) }
		{ was_call = $3 ~ /^(notrack |bnd |addr32 |data16 |rex\.W )*l?call/ }'
}

# rows IMAGE: prints what readelf says: START-ADDRESS ORDER CFA FP RA, and "none" where an FDE ends.
# shellcheck disable=SC2016
rows() {
	readelf --debug-dump=frames-interp "$1" 2>/dev/null |
		sed 's/ r[0-9]* ([a-z0-9]*)/ elsewhere/g' | awk -v fp="$FP" '
		function pad(hex) { return substr("0000000000000000" hex, length(hex) + 1) }
		function row(at, cfa, fp, ra) { print at, 1, cfa, fp, ra }
		$4 == "CIE" { in_cie = $1; fde = 0; next }
		$4 == "FDE" {
			split($5, cie, "=")
			split($6, range, /=|\.\./)
			fde = 1
			in_cie = ""
			row(pad(range[2]), initial_cfa[cie[2]], "u", initial_ra[cie[2]])
			print pad(range[3]), 0, "none"
			next
		}
		$1 == "LOC" {
			fp_column = 0
			for (i = 1; i <= NF; i++)
				if ($i == fp)
					fp_column = i
			columns = NF
			next
		}
		NF == 0 { fde = 0; in_cie = ""; next }
		in_cie != "" { initial_cfa[in_cie] = $2; initial_ra[in_cie] = $NF; next }
		fde && NF == columns {
			row(pad($1), $2, fp_column ? $fp_column : "u", $NF)
		}' | LC_ALL=C sort -s -k1,1 -k2,2n
}

# compare RULES ROWS WHAT: prints the differences, then the counts.
# shellcheck disable=SC2016
compare() {
	awk -v rows="$2" -v sp="$SP" -v fp="$FP" -v what="$3" '
		function read_row() {
			if ((getline line <rows) <= 0) { at = "~"; return }
			split(line, field, " ")
			at = field[1]
			next_row = field[3] == "none" ? "none" : field[3] " " field[4] " " field[5]
		}
		BEGIN { wanted = "none"; read_row() }
		{
			address = substr("0000000000000000" $1, length($1) + 1)
			while (at < address || (at == address && what == "instructions")) {
				wanted = next_row
				read_row()
			}
			if (wanted == "none") {
				uncovered += $2 == "none"
				differ += $2 != "none"
				if ($2 != "none")
					print
				next
			}
			split(wanted, w, " ")
			calls++
			if ($NF == "slot") slots++
			if (w[3] == "u") { ends++; ok = $2 == "end" }
			else if (w[1] ~ /exp/ || w[2] ~ /exp/ || w[3] ~ /exp/) {
				expressions++
				if ($2 == "none") { cannot++; next }
				ok = ($2 ~ /exp/) == (w[1] ~ /exp/) && $3 == w[2] && $4 == w[3]
			}
			else if (w[3] == "elsewhere") { cannot++; ok = $2 == "none" }
			else if (index(w[1], sp "+") != 1 && index(w[1], fp "+") != 1) {
				cannot++
				ok = $2 == "none"
			}
			else ok = $2 == w[1] && $3 == w[2] && $4 == w[3]
			if (!ok) { differ++; print "differs: " $0 ", wanted " wanted }
		}
		END {
			printf "%d %s, %d rules in slots, %d expressions, %d ends, " \
				"%d without a table, " \
				"%d cannot be represented, %d differ\n", \
				calls, what, slots, expressions, ends, uncovered, cannot, differ
			exit differ != 0 || calls == 0
		}' "$1"
}

SP=rsp FP=rbp
status=0
total=0
for library in libcrypto libsqlite3 liblua5.4 libxml2 libglib-2.0 libc; do
	archive=$($CC -print-file-name=$library.a)
	[ -e "$archive" ] || skip "$library.a is not installed"
	image=$W/$library
	$CC -o "$image" -nostdlib -static -Wl,--eh-frame-hdr,-e,0,--noinhibit-exec \
		-Wl,--unresolved-symbols=ignore-all,-z,muldefs \
		-Wl,--defsym=_init=0,--defsym=_fini=0,--defsym=_DYNAMIC=0,--defsym=main=0 \
		"$($CC -print-file-name=crt1.o)" \
		-Wl,--whole-archive "$archive" -Wl,--no-whole-archive >"$image.log" 2>&1
	[ -s "$image" ] || fail "cannot link $library: $(tail -n 3 "$image.log")"
	rows "$image" >"$image.rows"
	for what in calls instructions; do
		case $what:$library in
		instructions:libsqlite3 | instructions:libxml2 | instructions:liblua5.4) continue ;;
		esac
		addresses "$image" $what | LC_ALL=C sort -u >"$image.at"
		"$W/sweep" "$image" $what <"$image.at" >"$image.rules" ||
			fail "cannot read the rules of $library"
		counts=$(compare "$image.rules" "$image.rows" $what) || status=1
		echo "$library: $counts" | tail -n 20
	done
	rm -f "$image" "$image".*
	total=$((total + 1))
done
exit $status
