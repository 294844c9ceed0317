#!/bin/sh
# Each awk makes the same lists for the build and the same files for a link, and a failing awk ends
# the build.
. tests/lib.sh

# use AWK-COMMAND: makes awk stand for the command.
use() {
	mkdir -p "$W/bin"
	printf '#!/bin/sh\nexec %s "$@"\n' "$1" >"$W/bin/awk"
	chmod +x "$W/bin/awk"
}

# with_awk COMMAND...: runs the command with this awk.
with_awk() {
	PATH=$W/bin:$PATH "$@"
}

tried=0
for awk in awk mawk gawk original-awk 'busybox awk'; do
	command -v "${awk% awk}" >"$W/which" 2>&1 || {
		echo "left out: no $awk"
		continue
	}
	use "$(command -v "${awk% awk}")${awk#"${awk% awk}"}"
	for language in c cxx; do
		CC=$CC NM=nm with_awk report/system_functions.sh $language malloc strdup _Znwm \
			>"$W/$language" || fail "$awk: no list for $language"
	done
	with_awk sh "$O/generator/generate.sh" --output="$W/made" --options=exit=0:depth=3 \
		--allocator='je_ malloc=pool_alloc(pool,size) exported:free=pool_free' -- \
		"$CC" ||
		fail "$awk: not generated"
	for file in c cxx made.a made.flags; do
		[ -s "$W/$file" ] || fail "$awk: $file is empty"
		[ $tried != 0 ] || cp "$W/$file" "$W/$file.first"
		cmp "$W/$file" "$W/$file.first" || fail "$awk: another $file"
	done
	tried=$((tried + 1))
done
echo "$tried commands"

use false
! CC=$CC NM=nm with_awk report/system_functions.sh c malloc >"$W/c" 2>&1 ||
	fail "the list is made although awk fails"
