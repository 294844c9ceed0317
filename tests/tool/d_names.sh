#!/bin/sh
# Names of D are shown as the source has them; the last part of a name says whether the function
# asked for memory.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh
has_libiberty || skip "libiberty is not installed"

equal "a function" "$(shown _D3app4mainFZv)" 'app.main()'
equal "a method" "$(shown _D3app6Server5startMFiZv)" 'app.Server.start(int)'
equal "a nested function" "$(shown _D3app4mainFZ9__lambda1FNaNbNiNfiZi)" \
	'app.main().__lambda1(int)'
equal "a template" "$(shown _D8demangle9__T4testZ4testFZv)" 'demangle.test!().test()'
equal "main" "$(shown _Dmain)" 'D main'
equal "C" "$(shown _Dlopen)" _Dlopen
equal "C" "$(shown _D1)" _D1

# The functions that allocate for others have no parameters in text.
named_dump xmalloc.isra.0 _D4core6memory2GC6mallocFNaNbmkxC8TypeInfoZPv \
	_D3app9__T4poolZ6mallocFmZPv _D9allocator3runFZv _D3app4mainFZ9__lambda1FNaNbNiNfiZi \
	_Dmain main >"$W/log"
status_is 0 "$lw" report "$W/log"
equal "who asked" "$(asked)" "through xmalloc, core.memory.GC.malloc, app.pool.malloc
allocator.run()
app.main().__lambda1(int)
D main
main"
