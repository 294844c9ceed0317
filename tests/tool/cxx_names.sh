#!/bin/sh
# Names of C++ that g++'s own library does not know are demangled by libiberty.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh

equal "a usual name" "$(shown _ZN3foo3barERKSs)" 'foo::bar(std::string const&)'
equal "no name" "$(shown _Zfoo)" _Zfoo

has_libiberty || skip "libiberty is not installed"

# A generic lambda within a function that has parameter packs.
lambda=_ZZSt39uninitialized_construct_using_allocatorIiNSt3pmr21polymorphic_allocatorIiEEJiEEPT_
lambda=${lambda}S4_RKT0_DpOT1_ENKUlDpOT_E_clIJiEEEDaSD_
case $(shown $lambda) in
*"std::uninitialized_construct_using_allocator<int, "*'lambda('*) ;;
*) fail "not demangled: $(shown $lambda)" ;;
esac
