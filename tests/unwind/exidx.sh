#!/bin/sh
# The ARM exception tables against readelf: for every entry of the cross compilers' libraries, the frame must be
# what "readelf -u" describes.
. tests/lib.sh

build_plain exidx tests/unwind/exidx.c wrap/exidx.c
build_plain exidx_checked tests/unwind/exidx.c wrap/exidx.c -fsanitize=address,undefined -fno-sanitize-recover=all

# What readelf says: ADDRESS BASE SP R7 R11 PC, or ADDRESS none.
# shellcheck disable=SC2016 # $1 is awk's
frames() {
	LC_ALL=C readelf -u "$1" 2>/dev/null | awk '
		function flush() {
			if (address == "") return
			if (refused) print address, "none"
			else if (personal && !steps) print address, "unknown"
			else {
				if (at["r15"] == "") at["r15"] = at["r14"]
				print address, base, (sp != "" ? "@" sp : vsp), show("r7"), show("r11"), show("r15")
			}
			address = ""
		}
		function show(r) { return at[r] == "" ? "-" : at[r] }
		/^0x[0-9a-f]+/ {
			flush()
			address = $1
			sub(/^0x/, "", address); sub(/:$/, "", address)
			base = "vsp"; vsp = 0; sp = ""; popped = 0
			refused = / \[cantunwind\]/
			personal = steps = 0
			split("", at)
			next
		}
		address == "" { next }
		/Personality routine/ { personal = 1; next }
		/^  0x/ { steps++ }
		/finish/ { next }
		/[Rr]efuse|[Rr]eserved|[Ss]pare/ { refused = 1; next }
		/vsp = vsp \+ / { vsp += $NF; next }
		/vsp = vsp - / { vsp -= $NF; next }
		/vsp = r[0-9]+/ {
			base = $NF
			if (popped || vsp != 0 || (base != "r7" && base != "r11")) refused = 1
			next
		}
		/pop \{/ {
			list = $0
			sub(/.*\{/, "", list); sub(/\}.*/, "", list)
			n = split(list, register, /, */)
			for (i = 1; i <= n; i++) {
				if (register[i] ~ /^D/) { vsp += 8; continue }
				popped = 1
				if (register[i] == "r13") sp = vsp
				at[register[i]] = vsp
				vsp += 4
			}
			next
		}
		END { flush() }'
}

images=
for triple in arm-linux-gnueabihf arm-linux-gnueabi; do
	for library in libc.so.6 libm.so.6 libgcc_s.so.1 ld-linux.so.3 ld-linux-armhf.so.3 libstdc++.so.6; do
		[ ! -e "/usr/$triple/lib/$library" ] || images="$images /usr/$triple/lib/$library"
	done
done
[ -n "$images" ] || skip "no ARM libraries are installed"

total=0
for image in $images; do
	frames "$image" >"$W/wanted"
	cut -d ' ' -f 1 "$W/wanted" | "$W/exidx" "$image" >"$W/got" || continue # no such table
	# readelf does not decode what belongs to a language's own routine.
	unknown=$(grep -c unknown "$W/wanted")
	awk 'NR == FNR { wanted[$1] = $0; next } wanted[$1] !~ /unknown/' "$W/wanted" "$W/got" >"$W/known"
	grep -v unknown "$W/wanted" | diff - "$W/known" >"$W/diff" || fail "$image: $(head -n 20 "$W/diff")"
	frames=$(grep -vc none "$W/known")
	echo "$image: $(wc -l <"$W/got") entries, $frames frames equal, $unknown not decoded by readelf"
	total=$((total + frames))
	last=$image
done
[ $total -gt 0 ] || fail "no frames"
"$W/exidx" "$last" damaged 1000000 || fail "damaged tables"
"$W/exidx_checked" "$last" damaged 100000 || fail "damaged tables"
