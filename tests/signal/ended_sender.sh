#!/bin/sh
# A program that a shared library's child has executed may ask for a dump, and end at once. A child
# of the same program that does so gets what it would untraced.
. tests/lib.sh

[ -x /bin/kill ] || [ -x /usr/bin/kill ] || skip "there is no program kill"
# shellcheck disable=SC2086 # a list of flags
$CC $CFLAGS_FOR_TESTS -fPIC -shared -DLIBRARY -o "$W/libexec.so" tests/signal/ended_sender.c ||
	fail "cannot build the library"
build program tests/signal/ended_sender.c "$W/libexec.so" -Wl,-rpath,"$W"
for how in exec itself failed; do
	rm -f "$W/log"
	status=0
	LEAKWRAP_OPTIONS=log=$W/log:exit=0 "$W/program" $how 2>"$W/errors" || status=$?
	case $how in
	exec)
		equal "$how: status" $status 3
		equal "$how: live" "$(site_by "$W/log" 1 main)" "100 1"
		;;
	itself | failed) equal "$how: status" $status 138 ;;
	esac
done
