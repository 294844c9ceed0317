#!/bin/sh
# A library whose allocator the program exports is unloaded, and loaded again at another address.
. tests/lib.sh

build_plain libpool.so -DPOOL -shared -fPIC tests/link/reloaded.c
build_plain libplugin.so -DPLUGIN -shared -fPIC tests/link/reloaded.c -L"$W" -lpool \
	-Wl,-rpath,"$W"
build_plain plain tests/link/reloaded.c -ldl
"$W/plain" "$W/libplugin.so" || fail "plain: status $?"
LEAKWRAP_LIB=$O/libleakwrap.a "$O/leakwrap" cc \
	--allocator=exported:malloc=pool_take,exported:free=pool_give -- \
	"$CC" -O1 -o "$W/program" tests/link/reloaded.c -ldl || fail "does not link"
LEAKWRAP_OPTIONS=log=$W/log "$W/program" "$W/libplugin.so" || fail "status $?"
equal "blocks" "$(dump_lines "$W/log" 1 | grep -c '^site [0-9]*: 128 bytes in 2 blocks')" 1
equal "foreign frees" "$(dump_value "$W/log" 1 foreign_frees)" 0
