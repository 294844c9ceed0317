#!/bin/sh
# Programs relinked by bfd behave as before, and their leaks are found: dynamic and static, C and
# C++.
LINKER=bfd
. tests/lib.sh
. tests/link/matrix
