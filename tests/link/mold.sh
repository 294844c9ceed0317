#!/bin/sh
# Programs relinked by mold behave as before, and their leaks are found: dynamic and static, C and
# C++.
LINKER=mold
. tests/lib.sh
. tests/link/matrix
