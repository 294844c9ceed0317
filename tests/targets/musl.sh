#!/bin/sh
# x86-64 with musl, whose own code has no unwind tables.
. tests/lib.sh
. tests/targets/target.sh

command -v musl-gcc >/dev/null || skip "musl-gcc is not installed"
runtime x86_64-linux-musl CC=musl-gcc
run=

program musl-gcc
vendor musl-gcc
for how in -pie -no-pie -static -static-pie; do
	relink musl-gcc $how
	everything "musl-gcc $how"
done
echo "$tried programs"
