#!/bin/sh
# speedscope opens folded stacks and pprof profiles, with the functions and values of the dump.
#
# It is a package of npm. SPEEDSCOPE is its folder, if it is not installed globally.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh
. tests/tool/browser.sh
: "${SPEEDSCOPE:=$(npm root -g 2>/dev/null)/speedscope}"
viewer=$SPEEDSCOPE/dist/release/index.html
[ -f "$viewer" ] || skip "speedscope is not installed (npm install -g speedscope)"
need base64

build leaky tests/tool/leaky.c
LEAKWRAP_OPTIONS=log="$W/log" "$W/leaky" || fail leaky
need_browser
for format in folded pprof; do
	status_is 0 "$lw" report -f $format -o "$W/leaky.$format" "$W/log"
	# This is how speedscope's own command hands over a file.
	printf "speedscope.loadFileFromBase64('leaky.%s', '%s')" $format \
		"$(base64 -w 0 "$W/leaky.$format")" >"$W/$format.js"
	open_page "file://$viewer#localProfilePath=$W/$format.js" --virtual-time-budget=6000 \
		--enable-unsafe-swiftshader --screenshot="$W/$format.png" --window-size=1200,500
	shows "<title>.*leaky.$format"
	! grep CONSOLE "$W/browser" | grep -i error || fail "speedscope complains of $format"
done
