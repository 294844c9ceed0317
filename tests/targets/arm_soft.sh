#!/bin/sh
# 32-bit ARM with soft float.
# timeout: 300
. tests/lib.sh
. tests/targets/target.sh
. tests/targets/arm.sh

arm arm-linux-gnueabi
