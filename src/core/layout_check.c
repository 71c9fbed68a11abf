/*-------------------------------------------------------------------------
 *
 * layout_check.c
 *	  Proof, when compiling, that images have the layout that other builds
 *	  of this layout version have.
 *
 * Whoever changes what is checked here raises ACDAT_LAYOUT_VERSION.  Nothing
 * in this file ends up in an object file.
 *
 *-------------------------------------------------------------------------
 */
#include "src/core/filter.h"
#include "src/core/tails.h"
#include "src/core/image.h"

#include <limits.h>

/* C99 has no static assertion: an array of negative size is refused. */
#define CHECK(name, condition) \
	typedef char acdat_check_##name[(condition) ? 1 : -1]

#define CHECK_FIELD(field, offset) \
	CHECK(field, offsetof(acdat_image_header, field) == (offset))

CHECK(version, ACDAT_LAYOUT_VERSION == 4);
CHECK(byte, CHAR_BIT == 8);
CHECK(magic_size, sizeof(ACDAT_IMAGE_MAGIC) - 1 == 8);

CHECK_FIELD(magic, 0);
CHECK_FIELD(layout_version, 8);
CHECK_FIELD(byte_order, 12);
CHECK_FIELD(image_size, 16);
CHECK_FIELD(checksum, 24);
CHECK_FIELD(header_checksum, 40);
CHECK_FIELD(flags, 48);
CHECK_FIELD(encoding, 52);
CHECK_FIELD(case_insensitive, 56);
CHECK_FIELD(normalize, 60);
CHECK_FIELD(boundary, 64);
CHECK_FIELD(classes, 68);
CHECK_FIELD(slots, 72);
CHECK_FIELD(states, 76);
CHECK_FIELD(nodes, 80);
CHECK_FIELD(entries, 84);
CHECK_FIELD(allow_patterns, 88);
CHECK_FIELD(min_len, 92);
CHECK_FIELD(max_len, 96);
CHECK_FIELD(max_chain, 100);
CHECK_FIELD(ignore_count, 104);
CHECK_FIELD(ignore_len, 108);
CHECK_FIELD(priority, 112);
CHECK_FIELD(filter_kind, 116);
CHECK_FIELD(filter_gram, 120);
CHECK_FIELD(filter_word, 124);
CHECK_FIELD(filter_stride, 128);
CHECK_FIELD(filter_log2_words, 132);
CHECK_FIELD(ends_vary, 136);
CHECK_FIELD(tail_bytes, 140);
CHECK_FIELD(class_offset, 144);
CHECK_FIELD(state_offset, 152);
CHECK_FIELD(node_len, 160);
CHECK_FIELD(node_link, 168);
CHECK_FIELD(node_chain, 176);
CHECK_FIELD(node_first, 184);
CHECK_FIELD(node_choice, 192);
CHECK_FIELD(node_best, 200);
CHECK_FIELD(node_allow, 208);
CHECK_FIELD(node_allow_below, 216);
CHECK_FIELD(node_jump, 224);
CHECK_FIELD(node_jump_best, 232);
CHECK_FIELD(entry_id32, 240);
CHECK_FIELD(entry_id64, 248);
CHECK_FIELD(entry_priority, 256);
CHECK_FIELD(entry_replacement, 264);
CHECK_FIELD(entry_tag, 272);
CHECK_FIELD(tags, 280);
CHECK_FIELD(tag_count, 288);
CHECK_FIELD(strings, 296);
CHECK_FIELD(strings_len, 304);
CHECK_FIELD(ignore_chars, 312);
CHECK_FIELD(ignore_bytes, 320);
CHECK_FIELD(filter, 328);
CHECK_FIELD(tails, 336);
CHECK(header, sizeof(acdat_image_header) == 344);

CHECK(state_base, offsetof(acdat_state, base) == 0);
CHECK(state_fail, offsetof(acdat_state, fail) == 4);
CHECK(state_out_label, offsetof(acdat_state, out_label) == 8);
CHECK(state, sizeof(acdat_state) == 12);
CHECK(string_offset, offsetof(acdat_string, offset) == 0);
CHECK(string_len, offsetof(acdat_string, len) == 4);
CHECK(string, sizeof(acdat_string) == 8);
CHECK(tail, sizeof(acdat_tail) == 32);

/* Labels 1 to 256, and one that no byte has. */
CHECK(labels, ACDAT_NO_LABEL > 256);
CHECK(nodes_fit, ACDAT_MAX_NODES <= (UINT32_MAX >> ACDAT_LABEL_BITS));

/* Options are stored as the numbers of the public interface. */
CHECK(encodings, ACDAT_ENCODING_BYTES == 0 && ACDAT_ENCODING_UTF8 == 1);
CHECK(cases, ACDAT_CASE_NONE == 0 && ACDAT_CASE_ASCII == 1 &&
	  ACDAT_CASE_UNICODE == 2);
CHECK(normal_forms, ACDAT_NORMALIZE_NONE == 0 &&
	  ACDAT_NORMALIZE_WIDTH == 1 && ACDAT_NORMALIZE_NFKC == 2);
CHECK(traits, ACDAT_TEXT_DROPPED == 1 && ACDAT_TEXT_EXPANDED == 2 &&
	  ACDAT_TEXT_RECLASSED == 4);
CHECK(boundaries, ACDAT_BOUNDARY_NONE == 0 && ACDAT_BOUNDARY_WORD == 1);
CHECK(filters, ACDAT_FILTER_NONE == 0 && ACDAT_FILTER_FULL == 1 &&
	  ACDAT_FILTER_SPLIT == 2);
