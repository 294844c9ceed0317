#!/bin/sh
# Without its libraries the tool is not built, and the message names Debian's packages.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh
need make

# A compiler that finds no header has none of the libraries.
MAKEFLAGS='' MFLAGS='' status_is 0 make O="$W/none" HOSTCC='cc -nostdinc' tool
missing='^leakwrap: the tool is not built: libraries are missing\.  On Debian: apt-get install'
shows "$missing .*libdw-dev libjansson-dev libprotobuf-c-dev zlib1g-dev"
[ ! -e "$W/none/leakwrap" ] || fail "it is built all the same"
# README names the same packages in front of the commands that need them, and uthash's.
sed '/^make && sudo make install/,$d' README.md | tr '\n`' '  ' >"$W/before"
# shellcheck disable=SC2013 # words
for package in $(sed -n 's/.*apt-get install//p' "$W/out") uthash-dev pkg-config; do
	grep -q " $package " "$W/before" || fail "README does not name $package in time"
done
