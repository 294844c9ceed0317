#!/bin/sh
# Everything that a program does with its heap, at once: threads, forks, signals, coroutines, exceptions and
# all wrapped functions, for a few seconds, against a model of what must be live (stress.c).  "make stress"
# runs the same for as long as asked.
# timeout: 240
exec tests/stress/run 4 "${SEED:-1}" c cxx static
