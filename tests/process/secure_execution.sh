#!/bin/sh
# A program that runs with raised privileges ignores the options in its environment.
#
# The program runs as another user, or with capabilities.
. tests/lib.sh

[ "$(id -u)" = 0 ] || skip "needs root, to make a set-user-id program"
build_program_only secure tests/dump/options.c
if ! chown nobody "$W/secure" || ! chmod 4755 "$W/secure"; then
	fail "cannot make a set-user-id program"
fi
secure=$(LEAKWRAP_OPTIONS=log=$W/planted:top=1 "$W/secure" 2>"$W/log") || fail "status $?"
[ "$secure" = "secure 1" ] || skip "set-user-id has no effect in this folder"
[ ! -e "$W/planted" ] || fail "the environment has made the program write a file"
equal "call sites of the dump to standard error" "$(dump_sites "$W/log" 1 | wc -l)" 3

# Without privileges the same environment takes effect.
chmod 755 "$W/secure"
LEAKWRAP_OPTIONS=log=$W/planted:top=1 "$W/secure" 2>"$W/log" || fail "status $?"
equal "call sites without privileges" "$(dump_sites "$W/planted" 1 | wc -l)" 1

# A file with capabilities raises the privileges of another user.
command -v setcap >"$W/which" && command -v setpriv >>"$W/which" || exit 0
mkdir -m 777 "$W/open"
# This needs a folder that others may enter, and a file system with capabilities.
if ! setpriv --reuid=nobody --clear-groups test -x "$W/secure" -a -w "$W/open" ||
	! setcap cap_net_raw+ep "$W/secure"; then
	exit 0
fi
secure=$(LEAKWRAP_OPTIONS=log=$W/open/planted:top=1 \
	setpriv --reuid=nobody --clear-groups "$W/secure" 2>"$W/log") ||
	fail "with capabilities: status $?"
[ "$secure" = "secure 1" ] || exit 0
[ ! -e "$W/open/planted" ] ||
	fail "with capabilities: the environment has made the program write a file"
equal "call sites with capabilities" "$(dump_sites "$W/log" 1 | wc -l)" 3
