/* scan_failure.c - see scan_failure.h. */
#include "tools/log/scan_failure.h"

bool scan_failure(struct cursor c, struct parsed_failure *failure)
{
	bool has_identity = false, whole = true;
	uint64_t rank;

	*failure = (struct parsed_failure){0};
	if (!scan_decimal(&c, &rank) || !skip_text(&c, ":"))
		return false;
	for (struct cursor word; next_word(&c, &word);) {
		if (skip_text(&word, "hit=") || skip_text(&word, "hits="))
			whole &= scan_decimal(&word, &failure->hits) && at_end(&word);
		else if (skip_text(&word, "bytes="))
			whole &= scan_decimal(&word, &failure->bytes) && at_end(&word);
		else if (skip_text(&word, "identity="))
			has_identity = scan_hex(&word, &failure->identity) && at_end(&word);
		else if (word_is(&word, "origin=system_library"))
			failure->of_system = true;
	}
	return whole && has_identity;
}
