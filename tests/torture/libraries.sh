#!/bin/sh
# At each call site of eight prebuilt archives an allocation fails once, by forks; SQLite and others
# survive all of it.
#
# Some versions of libxml2, json-c and libyaml have bugs on these paths, see tests/bench/README.md.
. tests/lib.sh
. tests/tool/tool.sh
. tests/torture/drivers.sh

for driver in $drivers; do
	build_driver "$driver" || skip "the archive for $driver is not installed"
	"$W/$driver" 2>"$W/log" || fail "$driver fails without a failure: status $?"
	"$lw" torture -- "$W/$driver" >"$W/$driver.out" 2>"$W/$driver.err"
	status=$?
	cat "$W/$driver.err"
	grep -q ' 0 by rerun; ' "$W/$driver.out" || fail "$(cat "$W/$driver.out")"
	! grep -e 'did not end in time' -e 'died of another' "$W/$driver.out" || fail "$driver"
	sites=$(sed -n 's/^  \([0-9,]*\) failures tried.*/\1/p' "$W/$driver.out" | tr -d ,)
	case $driver in
	sqlite) least=500 wanted=0 ;;
	lua) least=150 wanted=0 ;;
	expat | png) least=20 wanted=0 ;;
	zlib) least=10 wanted=0 ;;
	*) least=20 wanted=$status ;;
	esac
	[ "$sites" -ge $least ] || fail "$driver: only $sites call sites"
	equal "$driver: findings: $(cat "$W/$driver.out")" $status $wanted
done
