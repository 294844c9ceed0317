/* loss.c - see loss.h. */
#include "wrap/base/loss.h"

struct leakwrap_loss leakwrap_loss;
_Atomic unsigned long leakwrap_walks;
