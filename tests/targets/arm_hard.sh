#!/bin/sh
# On 32-bit ARM with hard float every call site is found, in ARM and Thumb code, by gcc and clang.
# timeout: 300
. tests/lib.sh
. tests/targets/target.sh
. tests/targets/arm.sh

arm arm-linux-gnueabihf
