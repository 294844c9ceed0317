/* recall.h - the interface of ../recall.h, which includes this file in the place of its own, where every stack is
 * walked and none is recognized. */
#ifndef LEAKWRAP_BARE_RECALL_H
#define LEAKWRAP_BARE_RECALL_H

#include <stdbool.h>
#include <stddef.h>

#include "common.h"
#include "sites.h"

struct leakwrap_layout;

struct leakwrap_hints {
	const struct leakwrap_site *way[1];
};

LEAKWRAP_INLINE struct leakwrap_hints *leakwrap_hints(uintptr_t room, uintptr_t pc)
{
	static struct leakwrap_hints none;

	(void)room, (void)pc;
	return &none;
}

LEAKWRAP_INLINE const struct leakwrap_layout *leakwrap_layout_hinted(const struct leakwrap_site *site,
                                                                     uintptr_t room)
{
	(void)site, (void)room;
	return NULL;
}

LEAKWRAP_INLINE bool leakwrap_layout_is_shared(const struct leakwrap_layout *layout)
{
	(void)layout;
	return false;
}

LEAKWRAP_INLINE bool leakwrap_site_is_of(const struct leakwrap_site *site,
                                         const struct leakwrap_layout *layout, uintptr_t pc,
                                         uintptr_t sp, uintptr_t fp)
{
	(void)site, (void)layout, (void)pc, (void)sp, (void)fp;
	return false;
}

LEAKWRAP_INLINE const struct leakwrap_site *
leakwrap_site_among(const struct leakwrap_layout *layout, uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
	(void)layout, (void)pc, (void)sp, (void)fp;
	return NULL;
}

LEAKWRAP_INLINE uint32_t leakwrap_site_recall(uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
	(void)pc, (void)sp, (void)fp;
	return LEAKWRAP_SITE_NONE;
}

#endif
