#!/bin/sh
# A program that does everything with its heap at once agrees with a model of what must be live.
#
# It has threads, forks, signals, coroutines, exceptions and all wrapped functions (stress.c), and
# runs for a few seconds. "make stress" runs the same for as long as asked.
# timeout: 240
exec tests/stress/run 3 "${SEED:-1}" c process cxx static
