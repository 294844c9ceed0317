/* fde.c - see fde.h. */
#include "wrap/unwind/fde.h"

#include "wrap/arch/arch.h"

#ifdef LEAKWRAP_DWARF_SP

/* Returns a cursor from ADDRESS to the end of the tables. */
static struct leakwrap_cursor cursor_at(const struct leakwrap_cfi *tables, uintptr_t address)
{
	struct leakwrap_cursor c = {tables->high, tables->high, false};

	if (address < (uintptr_t)tables->low || address >= (uintptr_t)tables->high)
		c.has_failed = true;
	else
		c.at = tables->low + (address - (uintptr_t)tables->low);
	return c;
}

/* Returns the address of the FDE that may cover CODE, or 0.  LSB 5.0 core, section 10.6.2. */
static uintptr_t find_entry(const struct leakwrap_cfi *tables, uintptr_t code)
{
	struct leakwrap_cursor c = cursor_at(tables, (uintptr_t)tables->header);
	uintptr_t header = (uintptr_t)tables->header;
	const uint8_t *table;
	size_t first = 0, end;

	if (c.has_failed || tables->header_size > (size_t)(c.end - c.at))
		return 0;
	c.end = c.at + tables->header_size;

	uint64_t version = leakwrap_read_uint(&c, 1);
	uint8_t frame_encoding = (uint8_t)leakwrap_read_uint(&c, 1);
	uint8_t count_encoding = (uint8_t)leakwrap_read_uint(&c, 1);
	uint64_t table_encoding = leakwrap_read_uint(&c, 1);

	if (version != 1 || count_encoding == DW_EH_PE_omit ||
	    table_encoding != (DW_EH_PE_datarel | DW_EH_PE_sdata4))
		return 0;
	if (frame_encoding != DW_EH_PE_omit)
		leakwrap_read_pointer(&c, frame_encoding, header);
	end = leakwrap_read_pointer(&c, count_encoding, header);
	if (c.has_failed || end > (size_t)(c.end - c.at) / 8)
		return 0;

	/* Sorted pairs: the start of the code, and the FDE.  Both are relative to the header. */
	table = c.at;
	while (first < end) {
		size_t middle = first + (end - first) / 2;
		int32_t start;

		memcpy(&start, table + 8 * middle, sizeof(start));
		if (code < header + (uintptr_t)start)
			end = middle;
		else
			first = middle + 1;
	}
	if (first == 0)
		return 0;

	int32_t fde;

	memcpy(&fde, table + 8 * (first - 1) + 4, sizeof(fde));
	return header + (uintptr_t)fde;
}

/* Returns a cursor over the entry at ADDRESS, without the entry's length field. */
static struct leakwrap_cursor entry_at(const struct leakwrap_cfi *tables, uintptr_t address)
{
	struct leakwrap_cursor c = cursor_at(tables, address);
	uint64_t length = leakwrap_read_uint(&c, 4);

	if (length == 0xffffffff)
		length = leakwrap_read_uint(&c, 8);
	if (length == 0 || length > (size_t)(c.end - c.at))
		leakwrap_cursor_fail(&c);
	else
		c.end = c.at + length;
	return c;
}

/* Reads the augmentation DATA of a CIE.  Its LETTERS, those behind the 'z', tell the meaning of
 * DATA (LSB 5.0 core, section 10.6.1).  Returns false if a letter is unknown or DATA too short. */
static bool read_augmentation(struct leakwrap_cie *cie, struct leakwrap_cursor letters,
                              struct leakwrap_cursor data)
{
	uint8_t letter;

	while ((letter = (uint8_t)leakwrap_read_uint(&letters, 1)) != 0) {
		switch (letter) {
		case 'R': /* the encoding of the pointers in its FDEs */
			cie->encoding = (uint8_t)leakwrap_read_uint(&data, 1);
			break;
		case 'P': { /* the personality routine */
			uint8_t encoding = (uint8_t)leakwrap_read_uint(&data, 1);

			leakwrap_read_encoded(&data, encoding & DW_EH_PE_format_mask);
			break;
		}
		case 'L': /* the encoding of pointers to language-specific data */
			leakwrap_read_uint(&data, 1);
			break;
		case 'S': /* the frame that the kernel builds for a signal */
			cie->signal_frame = true;
			break;
		case 'B': /* AArch64: return addresses are signed with the B key */
		case 'G': /* AArch64: the code uses memory tags */
			break;
		default:
			return false;
		}
	}
	return !data.has_failed;
}

/* Reads the CIE at ADDRESS into *CIE.  Returns false if it is damaged or of an unknown kind. */
static bool read_cie(const struct leakwrap_cfi *tables, uintptr_t address, struct leakwrap_cie *cie)
{
	struct leakwrap_cursor c = entry_at(tables, address);
	struct leakwrap_cursor augmentation;
	uint64_t version;
	uint8_t letter;

	if (leakwrap_read_uint(&c, 4) != 0)
		return false;
	version = leakwrap_read_uint(&c, 1);
	if (version != 1 && version != 3 && version != 4)
		return false;
	augmentation = c;
	while (leakwrap_read_uint(&c, 1) != 0)
		;
	if (version == 4) {
		uint64_t address_size = leakwrap_read_uint(&c, 1),
		         segment_size = leakwrap_read_uint(&c, 1);

		if (address_size != sizeof(uintptr_t) || segment_size != 0)
			return false;
	}
	cie->code_align = leakwrap_read_uleb128(&c);
	cie->data_align = leakwrap_read_sleb128(&c);
	cie->ra_register = version == 1 ? leakwrap_read_uint(&c, 1) : leakwrap_read_uleb128(&c);
	cie->encoding = DW_EH_PE_absptr;
	cie->augmented = false;
	cie->signal_frame = false;

	letter = (uint8_t)leakwrap_read_uint(&augmentation, 1);
	if (letter == 'z') {
		uint64_t size = leakwrap_read_uleb128(&c);

		cie->augmented = true;
		if (!read_augmentation(cie, augmentation, c))
			return false;
		leakwrap_skip(&c, size);
	} else if (letter != 0) {
		return false;
	}
	cie->program = c;
	return !c.has_failed;
}

bool leakwrap_find_fde(const struct leakwrap_cfi *tables, uintptr_t code, struct leakwrap_fde *fde)
{
	struct leakwrap_cursor c = entry_at(tables, find_entry(tables, code));
	uintptr_t back_field = (uintptr_t)c.at;
	uint64_t back = leakwrap_read_uint(&c, 4); /* how far the CIE lies before this field */
	uintptr_t size;

	if (c.has_failed || back == 0 || !read_cie(tables, back_field - (uintptr_t)back, &fde->cie))
		return false;
	fde->start = leakwrap_read_pointer(&c, fde->cie.encoding, 0);
	size = leakwrap_read_encoded(&c, fde->cie.encoding & DW_EH_PE_format_mask);
	if (fde->cie.augmented)
		leakwrap_skip(&c, leakwrap_read_uleb128(&c));
	fde->program = c;
	return !c.has_failed && code - fde->start < size;
}

#endif
