#!/bin/sh
# A program that is sampled has no table of its stacks in memory: a sample's stack is walked, and
# not learned.
. tests/lib.sh

build program tests/limits/sampled_memory.c
sampled=$(LEAKWRAP_OPTIONS=exit=0:sample=1K "$W/program") || fail "status $?"
exact=$(LEAKWRAP_OPTIONS=exit=0 "$W/program") || fail "exact: status $?"
echo "sampled $sampled KB, exact $exact KB"
[ "$sampled" -gt 0 ] || fail "nothing was measured"
[ "$sampled" -le 80 ] || fail "$sampled KB of variables in a sampled program"
[ "$exact" -gt 80 ] || fail "$exact KB of variables: the bound shows nothing"
