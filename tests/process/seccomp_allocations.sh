#!/bin/sh
# Under a seccomp filter that ends the process, allocations need what leakwrap(7) says, and no more.
#
# Without recording they need nothing that the program itself does not need. The C library uses
# madvise, too.
. tests/lib.sh

build filtered tests/process/seccomp_allocations.c
build_plain untraced tests/process/seccomp_allocations.c
"$W/untraced"
status=$?
[ $status -ne 77 ] || skip "no seccomp filters here"
equal "untraced" $status 0
for options in exit=0 exit=0:sample=64K; do
	LEAKWRAP_OPTIONS=$options "$W/filtered" all 2>"$W/log"
	equal "$options: status" $? 0
done
LEAKWRAP_OPTIONS=record=0:exit=0 "$W/filtered" 2>"$W/log"
equal "record=0: status" $? 0
