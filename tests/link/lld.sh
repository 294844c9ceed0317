#!/bin/sh
# Programs relinked by lld behave as before, and their leaks are found: dynamic and static, C and
# C++.
LINKER=lld
. tests/lib.sh
. tests/link/matrix
