#!/bin/sh
# The reader of ARM exception tables describes the same frames as readelf -u.
#
# The test looks at every entry of the cross compilers' libraries, and at every call in them and in
# the static C library. Each archive is linked whole into a program, which is never run.
. tests/lib.sh

build_plain exidx tests/unwind/exidx.c wrap/unwind/arm_exidx.c
build_plain exidx_checked tests/unwind/exidx.c wrap/unwind/arm_exidx.c \
	-fsanitize=address,undefined -fno-sanitize-recover=all

# frames IMAGE: prints what readelf says: ADDRESS BASE SP R7 R11 PC, or ADDRESS none.
# shellcheck disable=SC2016 # $1 is awk's
frames() {
	LC_ALL=C readelf -u "$1" 2>/dev/null | awk '
		function flush() {
			if (address == "") return
			if (refused) print address, "none"
			else if (personal && !steps) print address, "unknown"
			else {
				if (at["r15"] == "") at["r15"] = at["r14"]
				print address, base, (sp != "" ? "@" sp : vsp), \
					show("r7"), show("r11"), show("r15")
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

# calls TRIPLE IMAGE: prints the address behind each call, less 1.
calls() {
	"$triple-objdump" -dw "$1" | awk -F '\t' '
		$1 !~ /^ *[0-9a-f]+:$/ { next }
		{ at = $1; gsub(/[ :]/, "", at) }
		was_call { print at }
		{ was_call = $3 ~ /^blx?(\.w)?$/ }' | sort -u | while read -r at; do
		printf "%x\n" $((0x$at - 1))
	done
}

images=
for triple in arm-linux-gnueabihf arm-linux-gnueabi; do
	archives=
	for library in libc.a libstdc++.a libgcc_eh.a; do
		archive=$("$triple-gcc" -print-file-name=$library 2>/dev/null)
		[ ! -e "$archive" ] || archives="$archives $archive"
	done
	if [ -n "$archives" ]; then
		# shellcheck disable=SC2086 # a list
		"$triple-gcc" -o "$W/static-$triple" -nostdlib -static -Wl,-e,0,--noinhibit-exec \
			-Wl,--unresolved-symbols=ignore-all,-z,muldefs \
			-Wl,--defsym=main=0,--defsym=_init=0,--defsym=_fini=0 \
			-Wl,--whole-archive $archives -Wl,--no-whole-archive >"$W/log" 2>&1
		[ -s "$W/static-$triple" ] || fail "cannot link$archives: $(tail -n 3 "$W/log")"
		images="$images $W/static-$triple"
	fi
	for library in libc.so.6 libm.so.6 libgcc_s.so.1 ld-linux.so.3 ld-linux-armhf.so.3 \
		libstdc++.so.6; do
		[ ! -e "/usr/$triple/lib/$library" ] || images="$images /usr/$triple/lib/$library"
	done
done
[ -n "$images" ] || skip "no ARM libraries are installed"

# An entry reaches up to the next entry.
check_calls() {
	calls "$1" >"$W/calls"
	"$W/exidx" "$1" <"$W/calls" >"$W/got"
	# shellcheck disable=SC2016 # $1 is awk's
	{
		padded='substr("00000000" at, length(at) + 1), $0'
		awk "{ at = \$1; \$1 = \"0\"; print $padded }" "$W/wanted"
		awk "{ at = \$1; \$1 = \"1\"; print $padded }" "$W/got"
	} | LC_ALL=C sort -k1,1 -k2,2n | awk '
		{ at = $1; kind = $2; $1 = $2 = "" }
		kind == 0 { wanted = $0; next }
		wanted ~ /unknown/ { unknown++; next }
		wanted == "" && $0 ~ /none/ { none++; next }
		wanted != $0 { differ++; print "differs: " at $0 ", wanted" wanted; next }
		$0 ~ /none/ { none++; next }
		{ equal++ }
		END {
			printf "%d calls with the right frame, %d without one, " \
				"%d not decoded by readelf, %d differ\n", \
				equal, none, unknown, differ
			exit differ != 0 || equal == 0
		}' >"$W/counts" || fail "$1: $(head -n 20 "$W/counts")"
	echo "$1: $(cat "$W/counts")"
}

total=0
for image in $images; do
	frames "$image" >"$W/wanted"
	cut -d ' ' -f 1 "$W/wanted" | "$W/exidx" "$image" >"$W/got" || continue # no such table
	# readelf does not decode entries of a language's own routine.
	unknown=$(grep -c unknown "$W/wanted")
	awk 'NR == FNR { wanted[$1] = $0; next } wanted[$1] !~ /unknown/' \
		"$W/wanted" "$W/got" >"$W/known"
	grep -v unknown "$W/wanted" | diff - "$W/known" >"$W/diff" ||
		fail "$image: $(head -n 20 "$W/diff")"
	frames=$(grep -vc none "$W/known")
	echo "$image: $(wc -l <"$W/got") entries, $frames frames equal," \
		"$unknown not decoded by readelf"
	case $image in
	*gnueabihf*) triple=arm-linux-gnueabihf ;;
	*) triple=arm-linux-gnueabi ;;
	esac
	check_calls "$image"
	total=$((total + frames))
	last=$image
done
[ $total -gt 0 ] || fail "no frames"
"$W/exidx" "$last" damaged 1000000 || fail "damaged tables"
"$W/exidx_checked" "$last" damaged 100000 || fail "damaged tables"
