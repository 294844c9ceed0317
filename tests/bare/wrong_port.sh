#!/bin/sh
# A compiler that does not compile for the port is refused before anything else is said.
. tests/lib.sh

# refuses SENTENCE VARIABLE=VALUE...: make lib ends with SENTENCE as its first line.
refuses() {
	sentence=$1
	shift
	! make -s -j2 O="$W/build" "$@" lib >"$W/said" 2>&1 || fail "$*: make has succeeded"
	equal "$*" "$(grep -v '^ ' "$W/said" | head -n 1)" "leakwrap: $sentence"
	equal "$*: lines" "$(grep -c -v -e '^ ' -e '^make' "$W/said")" 1
}

# A compiler's macros are all that is asked for.
cat >"$W/cc" <<'END'
#!/bin/sh
case $* in
*-dM*) echo '#define __sparc__ 1' ;;
*-dumpmachine*) echo sparc-none-elf ;;
*) exit 1 ;;
esac
END
chmod +x "$W/cc"
bare="does not compile for Linux; without an operating system give PORT=bare"
refuses "$W/cc $bare" CC="$W/cc"
refuses "$W/cc does not compile for 32-bit ARM, as PORT=bare needs" CC="$W/cc" PORT=bare
command -v arm-none-eabi-gcc >/dev/null || exit 0
refuses "arm-none-eabi-gcc $bare" CC=arm-none-eabi-gcc
