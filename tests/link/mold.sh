#!/bin/sh
# Programs relinked by mold: dynamic and static, C and C++, gcc and clang.
LINKER=mold
. tests/lib.sh
. tests/link/matrix
