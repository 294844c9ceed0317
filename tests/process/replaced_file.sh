#!/bin/sh
# A program whose file is deleted or replaced while it runs keeps its name when it loads a library.
#
# An upgrade replaces files so. The dumps before and after must name the same program.
. tests/lib.sh

cat >"$W/deleted.c" <<'END'
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
static void *volatile kept;
int main(int argc, char **argv)
{
	kept = malloc(100);
	raise(SIGUSR1);
	if (argc != 1 || unlink(argv[0]) != 0 || !dlopen("libm.so.6", RTLD_NOW))
		return 1;
	kept = malloc(200);
	return 0;
}
END
build deleted "$W/deleted.c"
"$W/deleted" 2>"$W/log" || fail "status $?"
for dump in 1 2; do
	equal "dump $dump: the program" "$(dump_value "$W/log" $dump program)" "$W/deleted"
	equal "dump $dump: module 1" \
		"$(dump_lines "$W/log" $dump | sed -n 's/^module 1 .* path=//p')" "$W/deleted"
done
equal "by main" "$(site_by "$W/log" 2 main)" "300 2"
