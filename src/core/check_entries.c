/*-------------------------------------------------------------------------
 *
 * check_entries.c
 *	  The proof that an image is sound: the attributes of patterns.
 *
 *-------------------------------------------------------------------------
 */
#include "src/core/check.h"

/* Is a string inside the string section? */
static bool
check_string(acdat_checker *c, uint64_t section, uint32_t index)
{
	acdat_string s = ((const acdat_string *) acdat_section(&c->m, section))[index];

	if (s.len != ACDAT_NONE &&
		(s.offset > c->h->strings_len ||
		 s.len > c->h->strings_len - s.offset))
		return check_fail(c, "string outside its section");
	return true;
}

/* Tags are strings in ascending order. */
static bool
check_tags(acdat_checker *c)
{
	const void *last = NULL;
	size_t		last_len = 0;
	uint32_t	i;

	if (c->h->tag_count > c->h->entries)
		return check_fail(c, "more tags than patterns");
	for (i = 0; i < c->h->tag_count; i++)
	{
		const void *tag;
		size_t		len;

		if (!check_may_go_on(c, i) || !check_string(c, c->h->tags, i))
			return false;
		tag = acdat_machine_tag(&c->m, i, &len);
		if (tag == NULL || (last != NULL &&
							acdat_compare_strings(last, last_len, tag, len) >= 0))
			return check_fail(c, "tags are not in order");
		last = tag;
		last_len = len;
	}
	return true;
}

/*
 * Strings and tags are all that entries have which could be out of range.
 */
bool
acdat_check_entries(acdat_checker *c)
{
	const acdat_image_header *h = c->h;
	uint32_t	i;

	if (!check_tags(c))
		return false;
	for (i = 0; i < h->entries; i++)
	{
		uint32_t	tag = h->entry_tag == 0 ? ACDAT_NONE :
			acdat_u32_at(&c->m, h->entry_tag, i);

		if (!check_may_go_on(c, i))
			return false;
		if (h->entry_replacement != 0 &&
			!check_string(c, h->entry_replacement, i))
			return false;
		if (tag != ACDAT_NONE && tag >= h->tag_count)
			return check_fail(c, "tag does not exist");
	}
	return true;
}
