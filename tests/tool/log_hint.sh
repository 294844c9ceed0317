#!/bin/sh
# If no dump comes, leakwrap dump says why: the log's folder is not there, the user of the process
# may not write the log, the log is as large as a file may be.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh
. tests/tool/live.sh

build log_hint tests/tool/log_hint.c

# hint_is LOG HINT ARGUMENT...: starts the program with LOG, asks it for a dump in vain, and fails
# unless the message ends with HINT.
hint_is() {
	log=$1 hint=$2
	shift 2
	: >"$W/ready"
	(cd "$W" && LEAKWRAP_OPTIONS=log=$log exec ./log_hint "$@") >"$W/ready" 2>/dev/null &
	pid=$!
	started="$started $pid"
	wait_until "$patience" grep -q ready "$W/ready" || fail "$*: it does not start"
	status_is 2 "$lw" dump --timeout=1 $pid
	said "no whole dump of process $pid came to .* within 1 s; $hint\$"
	kill -9 $pid
}

hint_is "$W/none/x.log" "the log's folder is not there"
hint_is 'none.%p/%p.log' "the log's folder is not there"
hint_is "$W/limited.log" 'the log is as large as a file of the process may be (ulimit -f)' limit
# A log whose file system has no room to tell of is not full.
hint_is /proc/x.log 'if the program or one of its libraries uses the dump signal itself, .*'

[ "$(id -u)" = 0 ] || skip "without root no process can give up its rights; the rest passed"
chmod 755 "$W"
: >"$W/mine.log"
chmod 600 "$W/mine.log"
hint_is "$W/mine.log" 'its user 65534 may not write the log' user
hint_is "$W/new.log" "its user 65534 may not write to the log's folder" user
