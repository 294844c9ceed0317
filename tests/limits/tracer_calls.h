/* tracer_calls.h - the system calls that the tracer has made in this program. */
#ifndef TRACER_CALLS_H
#define TRACER_CALLS_H

extern _Atomic unsigned long tracer_calls;

#endif
