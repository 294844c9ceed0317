#!/bin/sh
# Programs relinked by lld: dynamic and static, C and C++, gcc and clang.
LINKER=lld
. tests/lib.sh
. tests/link/matrix
