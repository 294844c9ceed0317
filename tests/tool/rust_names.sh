#!/bin/sh
# Names of Rust, v0 and legacy, are shown as the source has them, without hashes; functions of
# Rust's library do not count as those that asked for memory.
#
# shellcheck disable=SC2016 # $LT$ is a part of a name
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh
has_libiberty || skip "libiberty is not installed"

# v0
alloc=_RNvCsfLfy6EI15iL_7___rustc12___rust_alloc
grow=_RNvMs4_NtCslNYArtu3iFV_5alloc7raw_vecNtB5_11RawVecInner11finish_growB7_
slice='_RINvXs_NvMNtCslNYArtu3iFV_5alloc5sliceSp9to_vec_inhNtB5_10ConvertVec6to_vecNtNtBa_5alloc'
slice=${slice}6GlobalECsjrHSEGnQ3l9_3std
own_clone=_RNvXs_C3appNtB4_5RouteNtNtC4core5clone5Clone5clone
equal "a method" "$(shown $grow)" '<alloc::raw_vec::RawVecInner>::finish_grow'
equal "a trait" "$(shown $own_clone)" '<app::Route as core::clone::Clone>::clone'
equal "a closure" "$(shown _RNCNvC3app3run0B3_)" 'app::run::{closure#0}'
equal "a compiler's suffix" "$(shown _RNvC3app3run.llvm.12345)" app::run
equal "a letter that is not ASCII" "$(shown _RNvC3appu7caf_dma)" 'app::café'

# legacy
legacy='_ZN67_$LT$alloc..vec..Vec$LT$T$C$A$GT$$u20$as$u20$core..clone..Clone$GT$5clone'
legacy=${legacy}17hae8866c0a499804cE
equal "a legacy method" "$(shown "$legacy")" '<alloc::vec::Vec<T,A> as core::clone::Clone>::clone'
equal "a legacy closure" \
	"$(shown '_ZN3app3run28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE')" \
	'app::run::{{closure}}'

# other languages
equal "C++" "$(shown _ZN3app3runEi)" 'app::run(int)'
equal "a number that is no hash" "$(shown _ZN3app17h0000000000000000E)" app::h0000000000000000
equal "C" "$(shown _Read)" _Read

named_dump $alloc $grow "$slice" "$legacy" '_RNvMC3appNtB2_5Route3new' main >"$W/log"
status_is 0 "$lw" report "$W/log"
equal "who asked" "$(asked)" "through __rustc::__rust_alloc, \
alloc::raw_vec::RawVecInner::finish_grow, [_]::to_vec_in::ConvertVec::to_vec, alloc::vec::Vec::clone
<app::Route>::new
main"
status_is 0 "$lw" report -f folded "$W/log"
shows 'main;<app::Route>::new;<alloc::vec::Vec<T,A> as core::clone::Clone>::clone;'

# An array's method is of Rust's library.
named_dump $alloc _RNvMNtC4core5arrayAhj3_3map _RNvC3app3run main >"$W/log"
status_is 0 "$lw" report "$W/log"
equal "an array" "$(asked)" "through __rustc::__rust_alloc, [u8; 3]::map
app::run
main"

# A program's own method of a trait of Rust's library is the program's.
named_dump $alloc $own_clone _RNvC3app3run main >"$W/log"
status_is 0 "$lw" report "$W/log"
equal "an own trait method" "$(asked)" "through __rustc::__rust_alloc
<app::Route as core::clone::Clone>::clone
app::run
main"

# A long name keeps its type and its trait.
long='_ZN87_$LT$app..registry..Registry$LT$K$C$V$GT$$u20$as$u20$app..registry..Lookup$LT$K$GT$$GT$'
named_dump main "${long}4find17hae8866c0a499804cE" >"$W/log"
status_is 0 "$lw" report --all "$W/log"
shows '<app::registry::Registry<...> as app::registry::Lookup<...>>::find'
