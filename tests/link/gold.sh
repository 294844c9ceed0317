#!/bin/sh
# Programs relinked by gold: dynamic and static, C and C++, gcc and clang.
LINKER=gold
. tests/lib.sh
. tests/link/matrix
