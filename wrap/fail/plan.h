/* plan.h - the failures that leakwrap torture asks for by forks: the option fail=plan=FILE.
 *
 * FILE holds a struct leakwrap_plan (report/torture_plan.h), which the process shares with the
 * tool. */
#ifndef LEAKWRAP_FAIL_PLAN_H
#define LEAKWRAP_FAIL_PLAN_H

#include <stdbool.h>
#include <stdint.h>

/* Maps the plan that the option fail= names, once, at the start.  FORK forks and prepares the
 * tracer in the child; it returns 0 in the child, or a process id, or a negative number.  Returns
 * false if there is no such plan. */
bool leakwrap_plan_start(long (*fork)(void));

/* Forks if the plan asks for a failure of allocation HIT at the call site IDENTITY and the process
 * may fork.  Waits while as many children run as the plan allows.  Returns true in the child, whose
 * allocation must fail.  Returns false in the parent. */
bool leakwrap_plan_fork(uint64_t identity, uint32_t hit);

#endif
