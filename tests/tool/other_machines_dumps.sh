#!/bin/sh
# Every frame of another machine's dump gets its function, file and line, in every format.
#
# This includes inlined functions.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh

tried=0
go=$(command -v go)
export HOME="$W" GOCACHE="$W/cache" GOFLAGS=-mod=mod PPROF_TMPDIR="$W"
for machine in x86_64-linux-gnu i686-linux-gnu arm-linux-gnueabihf arm-linux-gnueabi \
	aarch64-linux-gnu riscv64-linux-gnu; do
	compiler=$machine-gcc
	command -v "$compiler" >/dev/null || continue
	for flags in "-O2" "-O1 -static" "-O2 -no-pie -gdwarf-4"; do
		tried=$((tried + 1))
		exe=$W/chain
		# shellcheck disable=SC2086 # flags
		$compiler -g $flags -fno-optimize-sibling-calls -Wl,--build-id \
			-fdebug-prefix-map="$PWD"=/src \
			-o "$exe" "$PWD/tests/tool/chain.c" || fail "$compiler $flags"
		case $(readelf -h "$exe") in
		*"EXEC ("*) bias=0x0 ;;
		*) case $machine in *64*) bias=0x55d0c8a00000 ;; *) bias=0x40000000 ;; esac ;;
		esac
		inner=$(return_address "$machine-objdump" "$exe" make_basket '(__libc_)?malloc')
		basket=$(return_address "$machine-objdump" "$exe" open_shop make_basket)
		direct=$(return_address "$machine-objdump" "$exe" open_shop '(__libc_)?malloc')
		shop=$(return_address "$machine-objdump" "$exe" main open_shop)
		case " $inner $basket $direct $shop " in
		*"  "*) fail "$machine $flags: no calls found in the disassembly" ;;
		esac
		# A return address into Thumb code has its lowest bit set.
		case $machine in
		arm-linux-gnueabihf)
			for name in inner basket direct shop; do
				eval "$name=\$(add \$$name 1)"
			done
			;;
		esac
		id=$(build_id "$exe")
		make_dump 4711.1 2026-11-20T18:36:07Z "$exe" $bias "$id" >"$W/log" <<-END
			2010 10 complete $inner $basket $shop
			100 1 truncated $direct $shop
		END

		# The page's text is its data. Of a profile, the text is an independent reader's
		# output.
		for format in text json folded html ${go:+pprof}; do
			status_is 0 "$lw" report --format="$format" "$W/log"
			[ ! -s "$W/err" ] || fail "$machine $flags: $(cat "$W/err")"
			case $format in
			html)
				sed -n '/ id="data">/,/<\/script>/p' "$W/out" |
					sed 's/.*id="data">//; s/<\/script>.*//' >"$W/raw"
				;;
			pprof)
				go tool pprof -raw "$W/out" >"$W/raw" 2>"$W/err" ||
					fail "$machine $flags: $(cat "$W/err")"
				;;
			*) cp "$W/out" "$W/raw" ;;
			esac
			# Newer versions of pprof show columns.
			sed "s|:0 s=0$| s=0|; s|$exe|EXE|g; s|0x[0-9a-f]\{3,\}|ADDRESS|g
				s|^1: 0x0/|1: ADDRESS/|
				s|$(build_id "$exe")|ID|g" "$W/raw" >"$W/$format"
			diff -u "tests/tool/golden/chain.$format" "$W/$format" ||
				fail "$machine $flags: $format"
		done
	done
done
[ $tried != 0 ] || skip "no cross compiler is installed"
