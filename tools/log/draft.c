/* draft.c - see draft.h. */
#include "tools/log/draft.h"

#include <stdlib.h>

void draft_start(struct draft *draft, unsigned long pid, unsigned long sequence)
{
	struct parsed_dump *dump = &draft->dump;
	*dump = (struct parsed_dump){
	        .pid = pid,
	        .sequence = sequence,
	        .sites = dump->sites,
	        .failures = dump->failures,
	        .frames = dump->frames,
	        .modules = dump->modules,
	        .notes = dump->notes,
	        .bypasses = dump->bypasses,
	        .command = dump->command,
	        .fault = {.registers = dump->fault.registers},
	        .blocks = {.own = dump->blocks.own,
	                   .roots = dump->blocks.roots,
	                   .stacks = dump->blocks.stacks,
	                   .blocks = dump->blocks.blocks},
	        .log = draft->log,
	        .line = draft->line,
	};
	reset_totals(&dump->totals);
	arena_reset(&draft->arena);
	draft->lines = 0;
	draft->site_bytes = draft->site_blocks = 0;
	draft->has_head = draft->is_skipped = draft->in_crash = draft->is_stack_broken = false;
	draft->is_site_open = false;
	draft->in_frames = NULL;
}

void draft_free(struct draft *draft)
{
	free(draft->dump.sites);
	free(draft->dump.failures);
	free(draft->dump.frames);
	free(draft->dump.modules);
	free(draft->dump.notes);
	free(draft->dump.bypasses);
	free(draft->dump.command);
	free(draft->dump.fault.registers);
	free(draft->dump.blocks.own);
	free(draft->dump.blocks.roots);
	free(draft->dump.blocks.stacks);
	free(draft->dump.blocks.blocks);
	arena_free(&draft->arena);
}

void draft_note_damage(struct draft *draft, const char *what)
{
	if (draft->dump.damage)
		return;
	draft->dump.damage = what;
	draft->dump.damage_line = draft->line;
}
