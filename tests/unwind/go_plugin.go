// A plugin, whose Descend allocates memory in C. The tag "program" builds go_plugin_main.go only.

//go:build !program

package main

/*
#include <stdlib.h>

static void *volatile kept;

static void leak(int size) { kept = malloc((size_t)size); }
*/
import "C"

//go:noinline
func Descend(depth, size int) int {
	if depth == 0 {
		C.leak(C.int(size))
		return size
	}
	return Descend(depth-1, size) + 1
}

func main() {}
