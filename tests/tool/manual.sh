#!/bin/sh
# Every command has --help and a page; page, help and completion name the same options.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh

status_is 0 "$lw" --help
for command in report diff why list audit cc flags dump top serve push torture; do
	shows "^  leakwrap $command "
done
# Each heading has options below it.
"$lw" report --help | grep -A 1 '^ [A-Z].*[a-z:]$' | grep -B 1 '^$' >"$W/empty" &&
	fail "empty heading: $(cat "$W/empty")"
cp "$W/out" "$W/general"
status_is 0 "$lw" help
cmp -s "$W/out" "$W/general" || fail "help"
status_is 2 "$lw" help nothing
said "there is no command 'nothing'"
status_is 0 "$lw" --version
equal "version" "$(cat "$W/out")" "leakwrap $(sed -n 's/^VERSION := //p' Makefile)"

for command in report diff why list audit cc flags dump top serve push torture; do
	page=tools/man/leakwrap-$command.1
	"$lw" $command --help >"$W/help" || fail "$command --help"
	"$lw" help $command | cmp -s - "$W/help" || fail "help $command"
	grep -o -e '--[a-z][a-z-]*' "$W/help" | grep -vx -e '--help\|--usage\|--version' |
		sort -u >"$W/options"
	sed 's/\\-/-/g; s/\\fR//g' "$page" >"$W/page"
	while read -r option; do
		grep -q -e "$option" "$W/page" || fail "$page does not explain $option"
		grep -q -e "$option" tools/leakwrap.bash || fail "the completion lacks $option"
	done <"$W/options"
	grep -o -e '--[a-z][a-z-]*' "$W/page" | sort -u | while read -r option; do
		case $option in --help | --wrap | --no-as-needed) continue ;; esac
		grep -q -e "$option" "$W/help" ||
			fail "$page explains $option, which $command does not have"
	done || exit 1
done
# A line of an example is not broken, and a page has the short options, too.
for command in report diff why list audit cc flags dump set mark top serve push torture; do
	"$lw" $command --help >"$W/help" || fail "$command --help"
	awk '/^[^ ]/ && after { print } { after = /^  [a-z]/ }' "$W/help" | grep . >"$W/broken" &&
		fail "$command --help breaks a line: $(cat "$W/broken")"
	sed 's/\\-/-/g; s/\\f[A-Z]//g' tools/man/leakwrap-$command.1 >"$W/page"
	sed -n 's/^  \(-[^ ,]\), --.*/\1/p' "$W/help" | grep -vxF -e '-?' -e -V |
		while read -r option; do
			grep -qF -e "$option" "$W/page" ||
				fail "leakwrap-$command(1) does not explain $option"
		done || exit 1
done
if command -v mandoc >/dev/null; then
	mandoc -T lint -W warning wrap/man/* tools/man/* >"$W/out" || fail "$(cat "$W/out")"
fi
# Each page that another page names exists.
grep -ho '^\.BR leakwrap[a-z\\-]* ([0-9])' wrap/man/* tools/man/* | sed 's/[()\\]//g' | sort -u |
	while read -r _ page section; do
		[ -f "wrap/man/$page.$section" ] || [ -f "tools/man/$page.$section" ] ||
			fail "there is no page $page($section)"
	done || exit 1

command -v bash >/dev/null || skip "bash is not installed"
complete_line() {
	bash -c '. tools/leakwrap.bash
		read -ra COMP_WORDS <<<"$1"
		[[ $1 != *" " ]] || COMP_WORDS+=("")
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _leakwrap; echo "${COMPREPLY[*]}"' bash "$1"
}
equal "commands" "$(complete_line 'leakwrap d')" "diff dump"
equal "help" "$(complete_line 'leakwrap help d')" "diff dump"
equal "formats" "$(complete_line 'leakwrap report --format = j')" "json"
equal "by" "$(complete_line 'leakwrap report --by = m')" "module member"
for by in $(complete_line 'leakwrap report --by = '); do
	grep -q "^\\.BR* $by\\b" tools/man/leakwrap-report.1 || fail "the page lacks --by=$by"
done
equal "options" "$(complete_line 'leakwrap report --max')" "--max-bytes= --max-blocks="
equal "a compiler's files" "$(complete_line 'leakwrap cc -- gcc READ')" "$(ls -d READ* 2>/dev/null)"
equal "files" "$(complete_line 'leakwrap audit READ')" "$(ls -d READ* 2>/dev/null)"
