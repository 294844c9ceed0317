#!/bin/sh
# A program that forks and forks under torture: the torture ends, and no process is left behind.
. tests/lib.sh
. tests/tool/tool.sh

# Without memory it makes 60 processes, each of which makes one in a session of its own. All would
# sleep for long.
cat >"$W/storm.c" <<'END'
#include <stdlib.h>
#include <unistd.h>

static void storm(void)
{
	for (int i = 0; i < 60; i++)
		if (fork() == 0) {
			if (i % 2)
				setsid();
			if (fork() == 0)
				setsid();
			free(malloc(50));
			sleep(1000);
			_exit(0);
		}
}

int main(int argc, char **argv)
{
	void *block = malloc(10);
	if (!block) {
		storm();
		while (argc > 1)
			sleep(1000);
		return 4;
	}
	free(block);
	return argv[0] == NULL;
}
END
build storm "$W/storm.c"
for engine in fork rerun; do
	status_is 0 "$lw" torture --engine=$engine -- "$W/storm"
	shows '^  1 failure tried'
	shows '^ *1 ended with another status$'
	! pgrep -f "^$W/storm" >"$W/left" || fail "$engine: $(wc -l <"$W/left") processes are left"
	status_is 1 "$lw" torture --engine=$engine --timeout=1 -- "$W/storm" waits
	shows '^  #1 hang'
	! pgrep -f "^$W/storm" >"$W/left" || fail "$engine: $(wc -l <"$W/left") processes are left"
done

# So it is when the user interrupts the torture.
"$lw" torture --engine=rerun --timeout=60 -- "$W/storm" waits >"$W/out" 2>"$W/err" &
tool=$!
storms() {
	[ "$(pgrep -f "^$W/storm waits" | wc -l)" -gt 60 ]
}
wait_until "$patience" storms || fail "no storm"
kill -TERM $tool
wait $tool
equal "status of an interrupted torture" $? 2
! pgrep -f "^$W/storm" >"$W/left" || fail "interrupted: $(wc -l <"$W/left") processes are left"
