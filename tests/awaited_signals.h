/* awaited_signals.h - the signals that a program without handlers waits for. */
#ifndef AWAITED_SIGNALS_H
#define AWAITED_SIGNALS_H

#include <signal.h>
#include <stddef.h>

/* Blocks the dump signal, and SIGTERM, by which a test ends the program.  Sets *SET to them. */
static inline void block_awaited_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGUSR1);
	sigaddset(set, SIGTERM);
	sigprocmask(SIG_BLOCK, set, NULL);
}

#endif
