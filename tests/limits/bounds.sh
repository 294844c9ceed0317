# shellcheck shell=sh
# bounds.sh - shared by tests of several bounds: a test measures all of them before it fails.
#
# Sourced after tests/lib.sh. A test ends with within_bounds.
failed=

# at_most WHAT GOT LIMIT: prints WHAT and GOT, and notes a failure if GOT is more than LIMIT, or no
# number.
at_most() {
	echo "$1: $2"
	[ "$2" -le "$3" ] || failed="$failed; $1 is more than $3"
}

# within_bounds: fails if a failure was noted.
within_bounds() {
	[ -z "$failed" ] || fail "${failed#; }"
}
