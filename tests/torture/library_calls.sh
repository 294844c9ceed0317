#!/bin/sh
# What the C library and other shared libraries allocate in a call of the program fails, too: in
# fopen and getaddrinfo, where getline makes a buffer larger, in libxml2.so and libsqlite3.so.
. tests/lib.sh
. tests/tool/tool.sh

cat >"$W/calls.c" <<'END'
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns whether a line fits, which needs a larger buffer. */
__attribute__((noinline)) int grow_line(FILE *file)
{
	size_t room = 4;
	char *line = malloc(room);
	if (!line)
		return 0;
	errno = 0;
	int fine = getline(&line, &room, file) > 4 || errno != ENOMEM;
	free(line);
	return fine;
}

__attribute__((noinline)) FILE *open_file(const char *path)
{
	return fopen(path, "r");
}

__attribute__((noinline)) int find_address(void)
{
	struct addrinfo *found = NULL, hints = {.ai_flags = AI_NUMERICHOST};
	int error = getaddrinfo("127.0.0.1", "80", &hints, &found);
	if (!error)
		freeaddrinfo(found);
	return error == 0;
}

/* The C library keeps what it allocates here. */
__attribute__((noinline)) int set_variable(void)
{
	return setenv("LIBRARY_CALLS", "a value", 1) == 0;
}

__attribute__((noinline)) int copy(const char *text)
{
	char *copied = strdup(text);
	free(copied);
	return copied != NULL;
}

int main(int argc, char **argv)
{
	FILE *file = open_file(argv[argc - 1]);
	int fine = file != NULL;
	if (file) {
		setvbuf(file, NULL, _IONBF, 0);
		fine = grow_line(file);
		fclose(file);
	}
	return fine && find_address() && copy("text") && set_variable() ? 0 : 5;
}
END
echo 'a line of some length' >"$W/input"
build calls "$W/calls.c"
# find_address refers to the C library's files, of which the static linker warns.
build calls-static -static "$W/calls.c" 2>"$W/warnings"
for program in calls calls-static; do
	for part in open_file grow_line find_address copy; do
		status_is 0 "$lw" torture --below=$part -- "$W/$program" "$W/input"
		tried=$(sed -n 's/^  \([0-9]*\) failures* tried.*/\1/p' "$W/out")
		[ "${tried:-0}" -ge 1 ] || fail "$program: no failure in $part: $(cat "$W/out")"
		shows "^ *$tried ended with another status$"
	done
	# The buffer, and where it grows.
	status_is 0 "$lw" torture --below=grow_line -- "$W/$program" "$W/input"
	shows '^  2 failures tried'
done

status_is 0 "$lw" torture --below=set_variable -- "$W/calls" "$W/input"
shows '^  [1-9] failures* tried'

# Shared libraries. libxml2 may have a bug there, see tests/bench/README.md.
for library in sqlite3 xml2; do
	[ -e "$($CC -print-file-name=lib$library.so)" ] || skip "lib$library.so is not installed"
done
build sqlite tests/torture/sqlite.c -lsqlite3
status_is 0 "$lw" torture --below=libsqlite3.so --limit=60 -- "$W/sqlite"
shows '^  60 failures tried'
shows '^ *60 ended with another status$'
build xml -I/usr/include/libxml2 tests/torture/xml.c -lxml2
"$lw" torture --below=libxml2.so --limit=60 -- "$W/xml" >"$W/out" 2>"$W/err"
shows '^  60 failures tried'
shows 'ended with another status$'
