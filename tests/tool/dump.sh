#!/bin/sh
# leakwrap dump asks only a process that is traced and listens, and waits until its dump is whole.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh

cat >"$W/wait.c" <<'END'
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
void *volatile kept;
int main(int argc, char **argv)
{
	sigset_t all;
	kept = malloc(1000);
	kept = NULL;
	sigfillset(&all);
	if (argc > 1 && (argv[1][0] == 'b' || argv[1][0] == 's'))
		sigprocmask(SIG_BLOCK, &all, NULL);
	if (argc > 1 && argv[1][0] == 'l' && chdir("/") != 0)
		return 1;
	if (write(STDOUT_FILENO, "ready\n", 6) != 6)
		return 1;
	if (argc > 1 && argv[1][0] == 's') {
		sleep(1);
		sigprocmask(SIG_UNBLOCK, &all, NULL);
	}
	for (;;)
		pause();
}
END
build wait "$W/wait.c"
build_plain plain "$W/wait.c"
# This program catches the signal and names the tracer's variable, like a program that starts traced
# programs.
sed 's/kept = NULL;/signal(SIGUSR1, SIG_DFL); signal(SIGUSR1, nothing); kept = "LEAKWRAP_OPTIONS=";/
	s/^int main/static void nothing(int number) { (void)number; }\n&/' "$W/wait.c" \
	>"$W/catches.c"
build_plain catches "$W/catches.c"

# start_program COMMAND...: starts the command in the background, and waits until it says ready.
start_program() {
	: >"$W/ready"
	"$@" >"$W/ready" 2>>"$W/stderr" &
	program=$!
	wait_until 10 test -s "$W/ready" || fail "$1 does not start"
}
stop() {
	kill -9 "$program"
	wait "$program" 2>/dev/null
}
shows_dump() {
	shows "^leakwrap\\[$program\\.$1\\] dump version=1 reason=signal"
	shows "^leakwrap\\[$program\\.$1\\] total live_bytes=1000 live_blocks=1 "
	equal "its end" "$(tail -n 1 "$W/out" | cut -d ' ' -f 2)" end
}

LEAKWRAP_OPTIONS="log=$W/log.%p" start_program "$W/wait"
status_is 0 "$lw" dump $program
shows_dump 1
status_is 0 "$lw" dump $program
shows_dump 2
stop
LEAKWRAP_OPTIONS="signal=RTMIN+3:log='$W/log [of] %e.%n'" start_program "$W/wait"
status_is 0 "$lw" dump $program
shows_dump 1
[ -f "$W/log [of] wait.1" ] || fail "no $W/log [of] wait.1"
status_is 0 "$lw" dump $program
shows_dump 2
"$lw" dump $program | "$lw" report --exe="$W/wait" >"$W/out" || fail "dump | report"
shows '1,000 bytes live in 1 block'
stop
start_program "$W/wait"
status_is 0 "$lw" dump $program
shows_dump 1
stop

# An earlier run has left its dumps in the log. A quotation mark in a path is an ordinary character.
mkdir "$W/o'brien" || exit 2
LEAKWRAP_OPTIONS="log=$W/o'brien/%n:exit=0" start_program "$W/wait"
status_is 0 "$lw" dump $program
stop
LEAKWRAP_OPTIONS="log=$W/o'brien/%n:exit=0" start_program "$W/wait"
status_is 0 "$lw" dump --timeout=2 $program
shows_dump 1
stop

# The collector of D programs takes the signal. Another signal reaches the tracer.
echo 'int unused;' >"$W/d.c"
build_plain libgphobos.so.3 -shared -fPIC "$W/d.c"
build d_program "$W/wait.c" -Wl,--no-as-needed "$W/libgphobos.so.3"
start_program "$W/d_program"
status_is 2 "$lw" dump $program
said 'is a D program, and signal USR1 would stop it for ever'
stop
LEAKWRAP_OPTIONS=signal=RTMIN+3:log=$W/log.%p start_program "$W/d_program"
status_is 0 "$lw" dump $program
shows_dump 1
stop

# A line feed in the program's path.
line_feed="$W/two
lines"
cp "$W/wait" "$line_feed"
LEAKWRAP_OPTIONS="log=$W/log.%p" start_program "$line_feed"
status_is 0 "$lw" dump --timeout=5 $program
shows_dump 1
stop

# A log that comes to log_max= is renamed: the dump is in a new file then.
LEAKWRAP_OPTIONS="log=$W/turned.log:log_max=1K:exit=0" start_program "$W/wait"
for number in 1 2 3 4 5; do
	status_is 0 "$lw" dump --timeout=5 $program
	shows_dump $number
done
stop
[ -f "$W/turned.log.1" ] || fail "the log was not renamed"

# If it cannot be renamed, it grows on, and its dumps say so. %h is the name of the host.
mkdir -p "$W/outgrown.$(uname -n).1/x" || exit 2
LEAKWRAP_OPTIONS="log=$W/outgrown.%h:log_max=1K:exit=0" start_program "$W/wait"
for number in 1 2 3; do
	status_is 0 "$lw" dump --timeout=5 $program
	shows_dump $number
done
shows 'note the log is larger than log_max=: it could not be renamed$'
stop
equal "dumps" "$(grep -c ' dump version=1 ' "$W/outgrown.$(uname -n)")" 3

# A relative path counts from the folder where the program was started, wherever it went from there.
cd "$W" || exit 2
LEAKWRAP_OPTIONS=log=here.log start_program "$W/wait" leaves
cd - >/dev/null || exit 2
status_is 0 "$lw" dump --timeout=2 $program
shows_dump 1
stop

# The dump follows another program's unfinished line. The program has another name than its file, or
# is static.
printf 'no end: ' >>"$W/stderr"
start_program "$W/wait"
status_is 0 "$lw" dump $program
shows_dump 1
stop
ln -s wait "$W/ali%pas"
LEAKWRAP_OPTIONS="log=$W/%e.log" start_program "$W/ali%pas"
status_is 0 "$lw" dump $program
shows_dump 1
[ -f "$W/ali%pas.log" ] || fail "no $W/ali%pas.log"
stop
build wait_static -static "$W/wait.c"
LEAKWRAP_OPTIONS="log=$W/%e.log" start_program "$W/wait_static"
status_is 0 "$lw" dump $program
shows "^leakwrap\\[$program\\.1\\] end "
[ -f "$W/wait_static.log" ] || fail "no $W/wait_static.log"
kill -STOP $program
wait_until 10 grep -q '^State:.T' "/proc/$program/status" || fail "it does not stop"
status_is 2 "$lw" dump $program
said "process $program is stopped"
kill -CONT $program
stop
LEAKWRAP_OPTIONS="log=$W/none/log" start_program "$W/wait"
status_is 2 "$lw" dump --timeout=1 $program
said "no whole dump of process $program came to $W/none/log within 1 s; the log's folder"
stop
if [ "$(id -u)" = 0 ]; then # may change the root folder
	mkdir "$W/jail"
	sed 's/kept = NULL;/& if (chroot(argv[2]) != 0) return 1;/' "$W/wait.c" >"$W/jailed.c"
	build jailed "$W/jailed.c"
	LEAKWRAP_OPTIONS="log=$W/%p.log" start_program "$W/jailed" - "$W/jail"
	status_is 2 "$lw" dump --timeout=1 $program
	said "came to $W/%p.log within 1 s; its root folder is $W/jail,"
	stop
fi

# Nobody else can read the program's pipe.
mkfifo "$W/pipe" || exit 2
cat "$W/pipe" >"$W/piped" &
reader=$!
# shellcheck disable=SC2016 # for the inner shell
start_program sh -c 'exec "$0/wait" 2>"$0/pipe"' "$W"
status_is 0 "$lw" dump $program
said "the dump of process $program goes to its standard error, $W/pipe, a pipe\$"
wait_for_dump "$W/piped" "$program.1"
stop
wait $reader
cat "$W/pipe" >"$W/piped" &
reader=$!
LEAKWRAP_OPTIONS="log=$W/pipe:exit=0" start_program "$W/wait"
status_is 0 "$lw" dump --timeout=1 $program
said "the dump of process $program goes to $W/pipe, a pipe\$"
wait_for_dump "$W/piped" "$program.1"
stop
wait $reader

# Nobody at all reads some logs.
ln -s piped "$W/link"
for log in /dev/null /dev/full "$W/link" "$W"; do
	LEAKWRAP_OPTIONS="log=$log" start_program "$W/wait"
	status_is 2 "$lw" dump $program
	said "no dump of process $program would reach anybody: its log is $log, "
	stop
done
for target in '&-' /dev/null; do
	# shellcheck disable=SC2016 # for the inner shell
	start_program sh -c "exec \"\$0/wait\" 2>$target" "$W"
	status_is 2 "$lw" dump $program
	said "no dump of process $program would reach anybody: its log is its standard error, "
	stop
done

for program_name in plain catches; do
	start_program "$W/$program_name"
	status_is 2 "$lw" dump $program
	said "is not traced"
	kill -0 $program || fail "a program that is not traced was ended"
	stop
done
# Neither the end of an earlier dump nor a dump of misuse is the answer to the request. The signal
# waits for the main thread, which is in vfork until the other thread has seen the signal, written
# the end of a dump and misused free.
cat >"$W/misuses.c" <<'END'
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static int told[2], log_file;
void *volatile kept;
static void *misuse_when_asked(void *unused)
{
	sigset_t signals;
	void *volatile on_stack = &signals;
	do {
		usleep(1000);
		sigpending(&signals);
	} while (!sigismember(&signals, SIGUSR1));
	dprintf(log_file, "leakwrap[%d.0] end sites=0 lines=7 dump_ns=1\n", (int)getpid());
	free(on_stack);
	if (write(told[1], "x", 1) != 1)
		abort();
	return unused;
}
int main(int argc, char **argv)
{
	sigset_t usr1;
	pthread_t thread;
	char byte;
	log_file = open(argv[argc - 1], O_WRONLY | O_APPEND | O_CREAT, 0600);
	kept = malloc(1000);
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sigprocmask(SIG_BLOCK, &usr1, NULL);
	if (pipe(told) != 0 || pthread_create(&thread, NULL, misuse_when_asked, NULL) != 0)
		return 1;
	sigprocmask(SIG_UNBLOCK, &usr1, NULL);
	if (vfork() == 0) {
		if (write(STDOUT_FILENO, "ready\n", 6) != 6 || read(told[0], &byte, 1) != 1)
			_exit(1);
		_exit(0);
	}
	for (;;)
		pause();
}
END
cat >"$W/forgiving.c" <<'END'
#include <stddef.h>
static char room[1 << 16] __attribute__((aligned(16)));
static size_t used;
void *malloc(size_t size)
{
	size_t at = __atomic_fetch_add(&used, (size + 31) / 16 * 16, __ATOMIC_RELAXED);
	return at + size <= sizeof(room) ? room + at : NULL;
}
void *calloc(size_t count, size_t size) { return malloc(count * size); }
void *realloc(void *block, size_t size) { return block ? NULL : malloc(size); }
void free(void *block) { (void)block; }
END
build misuses -Wno-deprecated-declarations "$W/misuses.c" "$W/forgiving.c"
LEAKWRAP_OPTIONS="misuse=report:log=$W/misuses.log" start_program "$W/misuses" "$W/misuses.log"
status_is 0 "$lw" dump $program
shows_dump 2
shows_not 'reason=misuse'
grep -q "^leakwrap\\[$program\\.1\\] dump version=1 reason=misuse" "$W/misuses.log" ||
	fail "no misuse was seen"
stop

# The program overwrites its arguments and its environment, like a daemon that gives itself a title.
# Or it has built-in options.
cat >"$W/title.c" <<'END'
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
extern char **environ;
void *volatile kept;
#ifdef BUILT_IN
const char *leakwrap_default_options(void);
const char *leakwrap_default_options(void) { return BUILT_IN; }
#endif
static void stop(int number)
{
	_exit(number);
}
int main(int argc, char **argv)
{
	char *end = argv[argc - 1] + strlen(argv[argc - 1]) + 1;
	for (char **one = environ; *one; one++)
		end = *one + strlen(*one) + 1;
	memset(argv[0], 't', (size_t)(end - argv[0]));
	signal(SIGUSR1, stop);
	kept = malloc(1000);
	if (write(STDOUT_FILENO, "ready\n", 6) != 6)
		return 1;
	for (;;)
		pause();
}
END
for link in '' -static -static-pie -no-pie; do
	# shellcheck disable=SC2086 # none or one
	build title $link "$W/title.c"
	LEAKWRAP_OPTIONS="log=$W/title of %e$link.%p:exit=0" start_program "$W/title"
	status_is 0 "$lw" dump --timeout=5 $program
	shows "^leakwrap\\[$program\\.1\\] end "
	[ -f "$W/title of title$link.$program" ] || fail "no log with the program's name"
	# The program's own handler stops it, but the request for a dump does not run this handler.
	kill -0 $program || fail "the request for a dump stopped the program"
	kill -USR1 $program
	wait $program
	equal "status$link" $? 10
done
# The request wakes up a forked child, which ends at once.
cat >"$W/forks.c" <<'END'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
void *volatile kept;
int main(void)
{
	pid_t child;
	kept = malloc(1000);
	child = fork();
	if (child == 0) {
		if (write(STDOUT_FILENO, "ready\n", 6) != 6)
			return 1;
		pause();
		return 0;
	}
	return waitpid(child, NULL, 0) != child;
}
END
build forks "$W/forks.c"
LEAKWRAP_OPTIONS="log=$W/forks.%p:exit=0" start_program "$W/forks"
parent=$program
program=$(cat "/proc/$parent/task/$parent/children")
program=${program% }
wait_for_sleep "$program"
status_is 0 "$lw" dump "$program"
shows_dump 1
wait "$parent"

build built_in "-DBUILT_IN=\"signal=RTMIN+3:log='$W/built in.%p'\"" "$W/title.c"
start_program "$W/built_in"
status_is 0 "$lw" dump $program
shows_dump 1
kill -0 $program || fail "the request for a dump stopped the program"

# If the program's memory cannot be read, and no option names the signal, leakwrap dump sends none.
cat >"$W/unreadable.c" <<'END'
#include <errno.h>
#include <stdlib.h>
#include <sys/uio.h>
ssize_t process_vm_readv(pid_t pid, const struct iovec *to, unsigned long to_count,
                         const struct iovec *from,
			 unsigned long from_count, unsigned long flags)
{
	(void)pid, (void)to, (void)to_count, (void)from, (void)from_count, (void)flags;
	errno = getenv("IS_GONE") ? EFAULT : EPERM;
	return -1;
}
END
build_plain unreadable.so -shared -fPIC "$W/unreadable.c"
status_is 2 env LD_PRELOAD="$W/unreadable.so" "$lw" dump "$program"
said 'does not say which signal asks for a dump: .*(Operation not permitted); run as root'
# While it executes a program, its memory is not there.
status_is 2 env IS_GONE=1 LD_PRELOAD="$W/unreadable.so" "$lw" dump "$program"
said 'does not say which signal asks for a dump: it starts, executes a program or ends'
status_is 2 env LD_PRELOAD="$W/unreadable.so" "$lw" dump --signal=USR2 "$program"
said 'does not catch signal USR2'
stop
LEAKWRAP_OPTIONS="log=$W/log.%p:signal=USR2" start_program "$W/wait"
status_is 0 env LD_PRELOAD="$W/unreadable.so" "$lw" dump $program
shows_dump 1
stop
LEAKWRAP_OPTIONS="log=$W/log.%p" start_program "$W/wait"
status_is 0 env LD_PRELOAD="$W/unreadable.so" "$lw" dump --signal=USR1 $program
shows_dump 1
stop

strip -o "$W/stripped" "$W/wait"
LEAKWRAP_OPTIONS="log=$W/stripped.log" start_program "$W/stripped"
rm "$W/stripped"
status_is 0 "$lw" dump $program
shows_dump 1
stop
# The main thread has ended, and others have not.
cat >"$W/headless.c" <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_t first;
static void *go_on(void *unused)
{
	void *volatile kept = malloc(1000);
	pthread_join(first, NULL);
	if (kept && write(STDOUT_FILENO, "ready\n", 6) != 6)
		exit(1);
	for (;;)
		pause();
	return unused;
}
int main(void)
{
	pthread_t thread;
	first = pthread_self();
	if (pthread_create(&thread, NULL, go_on, NULL) != 0)
		return 1;
	pthread_exit(NULL);
}
END
for flag in '' -static; do
	# shellcheck disable=SC2086 # one or none
	build headless $flag "$W/headless.c"
	for log in "$W/headless.log" "$W/headless.%e"; do
		LEAKWRAP_OPTIONS="log=$log:exit=0" start_program "$W/headless"
		status_is 0 "$lw" dump --kinds $program
		shows "^leakwrap\\[$program\\.1\\] dump version=1 reason=signal"
		shows "^leakwrap\\[$program\\.1\\] kinds "
		status_is 0 "$lw" mark $program
		stop
	done
done

start_program "$W/wait" blocked
status_is 2 "$lw" dump --timeout=1 $program
said "blocks signal USR1: none of its threads took it within 1 s"
said "if it always blocks the signal, start it with LEAKWRAP_OPTIONS=signal=RTMIN.3"
stop
# One thread that takes the signal is enough.
sed 's/^int main/static void *rest(void *none) { for (;;) pause(); return none; }\n&/
	s/^#include <signal.h>/#include <pthread.h>\n&/
	s/sigfillset/pthread_t thread;\n\tpthread_create(\&thread, NULL, rest, NULL);\n\t&/' \
	"$W/wait.c" >"$W/one_thread.c"
build one_thread -pthread "$W/one_thread.c"
LEAKWRAP_OPTIONS="log=$W/one_thread.log" start_program "$W/one_thread" blocked
status_is 0 "$lw" dump --timeout=5 $program
shows "^leakwrap\\[$program\\.1\\] dump version=1 reason=signal"
stop
start_program "$W/wait" soon
status_is 0 "$lw" dump $program
shows_dump 1
stop
LEAKWRAP_OPTIONS=signal=none start_program "$W/wait"
status_is 2 "$lw" dump $program
said "takes no dump signal"
stop
# The memory of a process may hold any number: this one is no signal.
sed 's/^int main/extern struct leakwrap_announcement leakwrap_announcement;\n&/
	s/kept = NULL;/leakwrap_announcement.signal = 64 + SIGUSR1;/
	s/^#include <signal.h>/#include "report\/announcement.h"\n&/' "$W/wait.c" >"$W/wrong.c"
build wrong -I. "$W/wrong.c"
start_program "$W/wrong"
status_is 2 "$lw" dump --timeout=1 $program
said 'does not catch signal RTMIN+[0-9]*:'
stop
status_is 2 "$lw" dump 4194305
said 'there is no such process'
status_is 2 "$lw" dump me
status_is 2 "$lw" dump
status_is 2 "$lw" dump --signal=RTMIN+30 4194305
said 'there is no such process'
status_is 2 "$lw" dump --signal=RTMIN+31 4194305
said 'RTMIN+31: not a signal'
for command in dump mark; do
	status_is 2 "$lw" $command 4194305 4194306
	said '4194306: one argument too many'
done
status_is 2 "$lw" dump --timeout=86401 4194305
said '--timeout=86401: must be a number of seconds from 0 to 86400'
