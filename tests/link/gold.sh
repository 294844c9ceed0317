#!/bin/sh
# Programs relinked by gold behave as before, and their leaks are found: dynamic and static, C and
# C++.
LINKER=gold
. tests/lib.sh
. tests/link/matrix
