#!/bin/sh
# Programs relinked by bfd: dynamic and static, C and C++, gcc and clang.
LINKER=bfd
. tests/lib.sh
. tests/link/matrix
