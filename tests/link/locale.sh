#!/bin/sh
# A build in a Turkish or a Latvian locale makes the same lists as one in the C locale.
#
# Ranges like [a-z] have not all letters of ASCII there.
. tests/lib.sh

command -v localedef >"$W/which" 2>&1 || skip "no localedef"
mkdir "$W/locales" || fail "cannot make $W/locales"
for locale in tr_TR lv_LV; do
	localedef -i $locale -f UTF-8 "$W/locales/$locale.UTF-8" >"$W/errors" 2>&1 ||
		skip "localedef does not know $locale: $(tail -n 1 "$W/errors")"
done

LISTS="every_c.c every_cxx.c generator/options include/system_c.h"

# make_lists LOCALE: makes the lists in the folder LOCALE.
make_lists() {
	# shellcheck disable=SC2046,SC2086 # targets
	env LC_ALL="$1" LOCPATH="$W/locales" make -s O="$W/$1" CC="$CC" \
		$(printf "$W/$1/%s " $LISTS) >"$W/make.out" 2>&1 ||
		fail "$1: $(tail -n 5 "$W/make.out")"
}

make_lists C
for list in $LISTS; do
	[ -s "$W/C/$list" ] || fail "$list is empty"
done
for locale in tr_TR.UTF-8 lv_LV.UTF-8; do
	make_lists $locale
	for list in $LISTS; do
		cmp "$W/C/$list" "$W/$locale/$list" || fail "$locale: another $list"
	done
	env LC_ALL=$locale LOCPATH="$W/locales" sh "$O/generator/generate.sh" --output="$W/made" \
		--options=exit=0 --allocator=malloc=my_init_ISI -- "$CC" >"$W/generate.out" 2>&1 ||
		fail "$locale: $(cat "$W/generate.out")"
done

# Where messages of the linker tell nothing, the build ends.
cat >"$W/silent" <<'END'
#!/bin/sh
for word; do
	case $word in *every_c.c.c) ! grep -q f_malloc "$word" || exit 1 ;; esac
done
exec "$REAL" "$@"
END
chmod +x "$W/silent"
! REAL=$CC make -s O="$W/silenced" CC="$W/silent" "$W/silenced/every_c.c" >"$W/make.out" 2>&1 ||
	fail "a build with an empty list succeeds"
grep -q 'leakwrap: the messages of .* do not tell' "$W/make.out" ||
	fail "not said: $(cat "$W/make.out")"
