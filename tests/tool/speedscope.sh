#!/bin/sh
# speedscope opens folded stacks and pprof profiles, with the functions and values of the dump.
#
# It is a package of npm. SPEEDSCOPE is its folder, if it is not installed globally.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh
: "${SPEEDSCOPE:=$(npm root -g 2>/dev/null)/speedscope}"
page=$SPEEDSCOPE/dist/release/index.html
[ -f "$page" ] || skip "speedscope is not installed (npm install -g speedscope)"
need chromium base64

build leaky tests/tool/leaky.c
LEAKWRAP_OPTIONS=log="$W/log" "$W/leaky" || fail leaky
export HOME="$W" XDG_CONFIG_HOME="$W" XDG_CACHE_HOME="$W"
for format in folded pprof; do
	status_is 0 "$lw" report -f $format -o "$W/leaky.$format" "$W/log"
	# This is how speedscope's own command hands over a file.
	printf "speedscope.loadFileFromBase64('leaky.%s', '%s')" $format \
		"$(base64 -w 0 "$W/leaky.$format")" >"$W/$format.js"
	timeout 60 chromium --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage \
		--enable-logging=stderr --user-data-dir="$W/profile" --virtual-time-budget=6000 \
		--enable-unsafe-swiftshader --screenshot="$W/$format.png" --window-size=1200,500 \
		--dump-dom "file://$page#localProfilePath=$W/$format.js" >"$W/out" 2>"$W/browser" ||
		fail "chromium: $(tail -n 3 "$W/browser")"
	shows "<title>.*leaky.$format"
	! grep CONSOLE "$W/browser" | grep -i error || fail "speedscope complains of $format"
done
