// Allocates memory in C, from its own code and from a plugin, the first argument.

//go:build program

package main

/*
#include <signal.h>
#include <stdlib.h>

static void *volatile keptHere;

static void leakHere(int size) { keptHere = malloc((size_t)size); }
static void dump(void) { raise(SIGUSR1); }
*/
import "C"

import (
	"os"
	"plugin"
)

func main() {
	C.leakHere(1001)
	opened, err := plugin.Open(os.Args[1])
	if err != nil {
		panic(err)
	}
	symbol, err := opened.Lookup("Descend")
	if err != nil {
		panic(err)
	}
	descend := symbol.(func(int, int) int)
	descend(3, 2001)
	done := make(chan int)
	go func() { done <- descend(3, 2002) }()
	<-done
	C.leakHere(1002)
	C.dump()
}
