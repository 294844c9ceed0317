/* loss.c - see loss.h. */
#include "wrap/base/loss.h"

struct leakwrap_loss leakwrap_loss;
_Atomic unsigned long leakwrap_walks;

#ifndef LEAKWRAP_BARE

void leakwrap_loss_reset_in_child(void)
{
	atomic_store(&leakwrap_loss.untracked_blocks, 0);
	atomic_store(&leakwrap_loss.untracked_bytes, 0);
	atomic_store(&leakwrap_loss.untracked_overflows, 0);
	atomic_store(&leakwrap_loss.untracked_samples, 0);
	atomic_store(&leakwrap_loss.lost_call_sites, 0);
	atomic_store(&leakwrap_loss.freed_elsewhere, 0);
	atomic_store(&leakwrap_loss.foreign_frees, 0);
}

#endif
