#!/bin/sh
# A program does not fork while it has threads, pipes or files that are open for writing; torture
# says why, and runs it again. No process is left behind.
. tests/lib.sh
. tests/tool/tool.sh

build threads tests/torture/threads.c
status_is 0 "$lw" torture -- "$W/threads"
shows '^  [0-9]* failures tried: 1 by fork, [2-9] by rerun; '
shows '^  the program could not fork at some failures: the program has several threads$'
status_is 1 "$lw" torture -- "$W/threads" bug
shows '^  1 finding$'
shows '^  #1 crash, SIGSEGV'
grep -A 2 '^  #1' "$W/out" | grep -q 'read_lines .*threads.c:' || fail "$(cat "$W/out")"

# The fork engine alone leaves such failures out.
status_is 0 "$lw" torture --engine=fork -- "$W/threads" bug
shows '^  [2-9] failures not tried$'
shows '^  1 failure tried'
shows_not 'went on'
status_is 0 "$lw" torture --engine=fork --format=json -- "$W/threads" bug
jq -e '.not_forked > 1 and (.attempts | length) == 1' "$W/out" >/dev/null ||
	fail "JSON: $(cat "$W/out")"

# obstacle WANTED SHELL-REDIRECTION: the program does not fork because of WANTED.
build small tests/alloc/fail_option.c
cat >"$W/writes.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	FILE *file = fopen(argv[argc - 1], "w");
	void *block = malloc(10);
	free(block);
	if (file)
		fclose(file);
	return block ? 0 : 1;
}
END
build writes "$W/writes.c"
status_is 0 "$lw" torture -- "$W/writes" "$W/written"
shows '^  2 failures tried: 1 by fork, 1 by rerun; ' # the failure of fopen by fork
shows '^  the program could not fork at some failures: a file is open for writing$'

# A program reads on where it was, although children have read the same file.
cat >"$W/reads.c" <<'END'
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	const char *path = argv[argc - 1];
	int fd = path[0] == '-' ? STDIN_FILENO : open(path, O_RDONLY), sum = 0;
	char byte;
	while (read(fd, &byte, 1) == 1) {
		void *block = malloc(10);
		if (!block && argc > 2)
			abort();
		if (!block)
			continue;
		sum += byte;
		free(block);
	}
	return sum == 'a' + 'b' + 'c' ? 0 : 1;
}
END
build reads "$W/reads.c"
printf abc >"$W/read"
status_is 0 "$lw" torture --hits=1,2,3 -- "$W/reads" "$W/read"
shows '^  3 failures tried: 3 by fork, 0 by rerun; '
shows '^ *3 ended with another status$'

# Failures of one call site are told apart, and go on apart.
for turn in first second; do
	status_is 1 "$lw" torture --hits=1,2,3 --state="$W/hits" -- "$W/reads" bug "$W/read"
	shows '^  3 failures tried: '
	shows '^  1 finding$'
	shows '^    and after 2 other failures$'
	[ $turn = first ] || shows ', 3 of these before; '
done
status_is 1 "$lw" torture --hits=1,2,3 --state="$W/hits" --all -- "$W/reads" bug "$W/read"
shows_not 'other failure'
shows '^    after a failed allocation of up to 10 bytes (aborted)$'
shows '^    after a failed allocation of up to 10 bytes, number 2 there (aborted)$'

# Standard input comes from a pipe or a file, from the start for every run.
for input in cat file; do
	case $input in # a pipe, a file
	cat) printf abc | "$lw" torture --engine=rerun --hits=1,2,3 -- \
		"$W/reads" - >"$W/out" 2>&1 ;;
	*) "$lw" torture --engine=rerun --hits=1,2,3 -- "$W/reads" - \
		<"$W/read" >"$W/out" 2>&1 ;;
	esac
	shows '^  3 failures tried'
	shows '^ *3 ended with another status$'
done

# A program leaves a process behind, and is tortured to its end nevertheless.
cat >"$W/leaves.c" <<'END'
#include <stdlib.h>
#include <unistd.h>
int main(void)
{
	void *block = malloc(10);
	if (fork() == 0) {
		setsid();
		sleep(1000);
	}
	free(block);
	return block ? 0 : 1;
}
END
build leaves "$W/leaves.c"
status_is 0 "$lw" torture -- "$W/leaves"
! pgrep -f "$W/leaves" || fail "processes are left behind"
