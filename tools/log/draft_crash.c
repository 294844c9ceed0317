/* draft_crash.c - see draft_crash.h. */
#include "tools/log/draft_crash.h"

#include <ctype.h>
#include <string.h>

#include "tools/base/memory.h"

/* Enters the crash.  Returns false, and notes damage, after a call site: the lines of the crash
 * stand before all call sites. */
static bool enter_crash(struct draft *draft)
{
	if (draft->dump.site_count > 0) {
		draft_note_damage(draft, "a line of the crash is out of order");
		return false;
	}
	draft->in_crash = draft->dump.crashed = true;
	return true;
}

static bool scan_code(struct cursor *c, int64_t *code)
{
	bool negative = skip_text(c, "-");
	unsigned number;
	if (!scan_small(c, &number))
		return false;
	*code = negative ? -(int64_t)number : (int64_t)number;
	return true;
}

/* Returns true if WORD is a name such as those of registers. */
static bool is_plain_name(const struct cursor *word)
{
	for (const char *p = word->at; p < word->end; p++)
		if (!isalnum((unsigned char)*p) && *p != '_')
			return false;
	return !at_end(word);
}

void draft_read_crash(struct draft *draft, struct cursor c)
{
	struct fault *fault = &draft->dump.fault;
	bool signal = false, code = false, whole = true;
	uint64_t thread;

	if (!enter_crash(draft))
		return;
	for (struct cursor word; next_word(&c, &word);) {
		if (skip_text(&word, "signal="))
			whole &= signal = scan_small(&word, &fault->signal) && at_end(&word);
		else if (skip_text(&word, "code="))
			whole &= code = scan_code(&word, &fault->code) && at_end(&word);
		else if (skip_text(&word, "exception=") && is_plain_name(&word))
			fault->exception = unescape(&draft->arena, &word);
		else if (skip_text(&word, "fault_address="))
			whole &= fault->addressed =
			        scan_hex(&word, &fault->fault_address) && at_end(&word);
		else if (skip_text(&word, "thread=") && scan_decimal(&word, &thread) &&
		         at_end(&word))
			fault->thread = thread;
		else if (skip_text(&word, "task="))
			fault->task = unescape(&draft->arena, &word);
	}
	fault->told = signal && code;
	if (!fault->told || !whole || !fault->thread)
		draft_note_damage(draft, "what it died of is damaged");
}

void draft_read_registers(struct draft *draft, struct cursor c)
{
	struct fault *fault = &draft->dump.fault;

	if (!enter_crash(draft))
		return;
	for (struct cursor word; next_word(&c, &word);) {
		const char *equals = memchr(word.at, '=', (size_t)(word.end - word.at));
		struct cursor name = {word.at, equals ? equals : word.at};
		struct cursor value = {equals ? equals + 1 : word.end, word.end};
		struct machine_register one = {0};
		if (!is_plain_name(&name) || !scan_hex(&value, &one.value) || !at_end(&value)) {
			draft_note_damage(draft, "a register is damaged");
			continue;
		}
		one.name = arena_copy(&draft->arena, name.at, (size_t)(name.end - name.at));
		GROW(fault->registers, draft->register_room, fault->register_count + 1);
		fault->registers[fault->register_count++] = one;
	}
}

void draft_read_misuse(struct draft *draft, struct cursor c)
{
	struct parsed_dump *dump = &draft->dump;
	struct misuse *misuse = &dump->misuse;
	struct cursor what = scan_word(&c);
	enum misuse_stack stack = word_is(&what, "released") ? MISUSE_RELEASE
	                          : word_is(&what, "block")  ? MISUSE_BLOCK
	                                                     : MISUSE_OFFENDER;
	const char *function = NULL;
	bool number = false, whole = true;

	dump->misused = true;
	for (struct cursor word; next_word(&c, &word);) {
		if (skip_text(&word, "function=")) {
			word.end = c.end; /* the rest of the line */
			function = unescape(&draft->arena, &word);
			break;
		}
		if (skip_text(&word, "pointer="))
			number = scan_hex(&word, &misuse->pointer) && at_end(&word);
		else if (skip_text(&word, "address="))
			number = scan_hex(&word, &misuse->address) && at_end(&word);
		else if (skip_text(&word, "bytes="))
			whole &= scan_decimal(&word, &misuse->bytes) && at_end(&word);
		else if (skip_text(&word, "thread="))
			whole &= scan_decimal(&word, &misuse->thread) && at_end(&word);
	}
	draft->in_frames = NULL;
	draft->is_stack_broken = true;
	if (misuse->has[stack] || !whole || (stack != MISUSE_RELEASE && !number) ||
	    (stack == MISUSE_OFFENDER && (!function || !is_plain_name(&what)))) {
		draft_note_damage(draft, "what was misused is damaged");
		return;
	}
	if (stack == MISUSE_OFFENDER) {
		misuse->what = unescape(&draft->arena, &what);
		misuse->function = function;
	} else if (stack == MISUSE_BLOCK) {
		misuse->maker = function;
	}
	misuse->has[stack] = true;
	draft->is_stack_broken = false;
	draft->in_frames = &dump->misuse_frames[stack];
	draft->in_frames->first = dump->frame_count;
}
