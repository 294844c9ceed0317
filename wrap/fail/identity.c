/* identity.c - see identity.h. */
#include "wrap/fail/identity.h"

#include "report/site_identity.h"
#include "wrap/module/registry.h"
#include "wrap/site/site_read.h"
#include "wrap/unwind/trace.h"

#include <string.h>

/* Returns IDENTITY with what identifies MODULE. */
static uint64_t add_module(uint64_t identity, const struct leakwrap_module *module)
{
	const char *slash = strrchr(module->path, '/');
	const char *name = slash ? slash + 1 : module->path;

	return module->build_id_size > 0
	               ? leakwrap_identity_add(identity, module->build_id, module->build_id_size)
	               : leakwrap_identity_add(identity, name, strlen(name));
}

/* The call before a return address decides about the module: a call may be a module's last
 * instruction. */
uint64_t leakwrap_site_identity(uint32_t site)
{
	uintptr_t pcs[LEAKWRAP_MAX_DEPTH];
	struct leakwrap_trace trace = {.pcs = pcs};
	uint64_t identity = LEAKWRAP_IDENTITY_START;

	leakwrap_site_read(site, &trace);
	for (unsigned i = 0; i < trace.depth; i++) {
		const struct leakwrap_module *gone =
		        leakwrap_module_gone(trace.modules, pcs[i] - 1);
		const struct leakwrap_module *module =
		        gone ? gone : leakwrap_module_ever_at(pcs[i] - 1);

		if (module)
			identity = leakwrap_identity_add_offset(add_module(identity, module),
			                                        pcs[i] - module->bias);
		else
			identity = leakwrap_identity_add_offset(identity, UINT64_MAX);
	}
	return identity;
}
