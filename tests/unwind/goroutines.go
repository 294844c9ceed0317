// Allocates memory in C, from several goroutines, and raises SIGUSR1.  Go's own list of callers
// goes to standard output: the size of the block, and the return addresses of the functions around
// goes.leak's caller.
package main

/*
#include <signal.h>
#include <stdlib.h>

extern void calledBack(int);

static void *volatile kept;

static void leak(int size) { kept = malloc((size_t)size); }
static void callBack(int size) { calledBack(size); }
static void dump(void) { raise(SIGUSR1); }
*/
import "C"

import (
	"fmt"
	"runtime"
	"sync"
)

var lock sync.Mutex

//go:noinline
func leak(size int) int {
	callers := make([]uintptr, 100)
	callers = callers[:runtime.Callers(2, callers)]
	lock.Lock()
	fmt.Print(size)
	for _, pc := range callers {
		fmt.Printf(" %#x", pc)
	}
	fmt.Println()
	lock.Unlock()
	C.leak(C.int(size))
	return size
}

//export calledBack
func calledBack(size C.int) { leak(int(size)) }

//go:noinline
func descend(depth, size int) int {
	var frame [37]byte

	if depth == 0 {
		return leak(size)
	}
	frame[depth%37] = byte(depth)
	return descend(depth-1, size) + int(frame[(depth+1)%37])
}

func main() {
	var all sync.WaitGroup

	descend(3, 1001)
	for i := 0; i < 3; i++ {
		all.Add(1)
		go func(i int) {
			descend(10+i, 2000+i)
			all.Done()
		}(i)
	}
	all.Wait()
	func() {
		defer func() {
			recover()
			leak(3001)
		}()
		panic("recovered")
	}()
	C.callBack(4001)
	C.dump()
}
