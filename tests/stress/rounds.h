/* rounds.h - the bytes that stress.c sends to supervise.c at the beginning of a round. */
#ifndef ROUNDS_H
#define ROUNDS_H

enum {
	STORM = 's', /* as many signals as can be served */
	FLOW = 'f'   /* a few */
};

#endif
