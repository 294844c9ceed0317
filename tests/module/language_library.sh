#!/bin/sh
# What libgnat and libobjc make for the program is the program's, and what they make for themselves
# is theirs.
. tests/lib.sh

cat >"$W/library.c" <<'END'
#include <stdlib.h>
static void *volatile kept;
void *MAKES(size_t size);
void KEEPS(void);
void *MAKES(size_t size) { void *made = malloc(size); __asm__ volatile(""); return made; }
void KEEPS(void) { kept = malloc(1000 + sizeof(STRING)); __asm__ volatile(""); }
END
cat >"$W/program.c" <<'END'
#include <stddef.h>
void *__gnat_malloc(size_t size);
void *class_createInstance(size_t size);
void gnat_keeps(void);
void objc_keeps(void);
static void *volatile kept[2];
int main(void)
{
	kept[0] = __gnat_malloc(10);
	kept[1] = class_createInstance(20);
	gnat_keeps();
	objc_keeps();
	return 0;
}
END
build_plain libgnat-12.so -shared -fPIC -DMAKES=__gnat_malloc -DKEEPS=gnat_keeps \
	-DSTRING='"gnat"' "$W/library.c"
build_plain libobjc.so.4 -shared -fPIC -DMAKES=class_createInstance -DKEEPS=objc_keeps \
	-DSTRING='"of objc"' "$W/library.c"
build makes "$W/program.c" "$W/libgnat-12.so" "$W/libobjc.so.4" -Wl,-rpath,"$W"
"$W/makes" 2>"$W/log" || fail "status $?"
# Prints "BYTES OWNER" of each call site.
origins() {
	dump_lines "$W/log" 1 | awk '
		$1 == "site" { bytes = $3; module[bytes] = /module=/ ? $NF : "program" }
		$1 == "module" { sub(/.*\//, "", $NF); name["module=" $2] = $NF }
		END {
			for (bytes in module) {
				owner = module[bytes]
				print bytes, owner in name ? name[owner] : owner
			}
		}' | sort -n
}
equal "origins" "$(origins)" "10 program
20 program
1005 libgnat-12.so
1008 libobjc.so.4"
