# shellcheck shell=sh disable=SC2154 # variables of tests/lib.sh
# browser.sh - shared by the tests that open a page: finds a browser, and runs it without a window.
#
# Sourced after tests/lib.sh.

# need_browser: sets $browser, and skips the test if there is none, or none that runs here.
need_browser() {
	browser=
	for name in chromium chromium-browser google-chrome; do
		command -v $name >/dev/null && browser=$name && break
	done
	[ -n "$browser" ] || skip "chromium is not installed"
	export HOME="$W" XDG_CONFIG_HOME="$W" XDG_CACHE_HOME="$W"
	browse --dump-dom about:blank >"$W/blank" || skip "$browser does not run here"
}

# browse ARGUMENT...: runs the browser, which may take a minute. $W/browser gets its messages, and
# what pages write to its console.
browse() {
	timeout 60 "$browser" --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage \
		--enable-logging=stderr --user-data-dir="$W/profile" "$@" 2>"$W/browser"
}

# open_page URL ARGUMENT...: $W/out gets the page as its scripts made it. Fails if the browser does.
open_page() {
	page=$1
	shift
	browse "$@" --dump-dom "$page" >"$W/out" ||
		fail "$page: $browser: status $?: $(tail -n 3 "$W/browser")"
}

# screenshot URL ARGUMENT...: makes a picture of the page, $W/page.png. Fails if it shows little.
screenshot() {
	page=$1
	shift
	browse "$@" --screenshot="$W/page.png" --window-size=1300,1000 "$page" >/dev/null ||
		fail "$page: $browser: status $?: $(tail -n 3 "$W/browser")"
	[ "$(wc -c <"$W/page.png")" -gt 20000 ] || fail "the screenshot of $page is empty"
}
