/*-------------------------------------------------------------------------
 *
 * redact_json.c
 *	  Rewriting the string values of documents.
 *
 * A json value is copied token by token: whitespace, numbers, keys (all of
 * them, of duplicates too), the order, and every string in which nothing
 * matches stay as they are written.  Nesting needs no stack here: in a valid
 * document a string is a key just when a colon follows.
 *
 * Strings are matched as the text they stand for, whatever is escaped in
 * them.  Escapes that stand for nothing a text can have, as \u0000 or half
 * a surrogate pair, end one piece of text and begin another.
 *
 * Errors of the server's json functions would show the document, so that none
 * of those is called that can raise one.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "common/jsonapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/jsonfuncs.h"

#include "src/pgcompat.h"
#include "src/redact.h"

/* One character in any encoding, after conversion from another. */
#define CHARACTER_BYTES 32

/* A json value being copied. */
typedef struct JsonCopy
{
	AcdatRewriter *rewriter;
	const char *copied;			/* the input before this is in output */
	StringInfoData output;		/* data NULL: nothing has changed so far */
	StringInfoData piece;		/* a piece of a string without its escapes */
} JsonCopy;

static void
append_escaped(StringInfo output, const char *text, Size len)
{
	const char *end = text + len;
	const char *plain = text;

	for (; text < end; text++)
	{
		unsigned char c = (unsigned char) *text;

		if (c >= 0x20 && c != '"' && c != '\\')
			continue;
		appendBinaryStringInfo(output, plain, (int) (text - plain));
		plain = text + 1;
		if (c >= 0x20)
			appendStringInfo(output, "\\%c", c);
		else
			appendStringInfo(output, "\\u%04x", c);
	}
	appendBinaryStringInfo(output, plain, (int) (end - plain));
}

/* Rewrite a piece of a string, written in the input from raw to raw_end. */
static void
copy_piece(JsonCopy *copy, const char *raw, const char *raw_end,
		   const char *bytes, Size len)
{
	text	   *result = acdat_rewrite_piece(copy->rewriter, bytes, len);

	if (result == NULL)
		return;
	if (copy->output.data == NULL)
	{
		initStringInfo(&copy->output);
		/* the header of the value to be */
		appendStringInfoSpaces(&copy->output, VARHDRSZ);
	}
	appendBinaryStringInfo(&copy->output, copy->copied,
						   (int) (raw - copy->copied));
	append_escaped(&copy->output, VARDATA(result), VARSIZE(result) - VARHDRSZ);
	copy->copied = raw_end;
	pfree(result);
}

/*
 * Append the character of a code point in the encoding of the database; false
 * if it has none there.
 */
static bool
append_code_point(StringInfo piece, pg_wchar code)
{
	unsigned char utf8[CHARACTER_BYTES];
	unsigned char converted[CHARACTER_BYTES];
	int			encoding = GetDatabaseEncoding();
	int			len;
	Oid			conversion;

	if (code == 0 || (code >= 0xD800 && code <= 0xDFFF))
		return false;
	unicode_to_utf8(code, utf8);
	len = pg_encoding_mblen(PG_UTF8, (char *) utf8);
	/* without a declared encoding, UTF-8 is what it will most likely be */
	if (code < 0x80 || encoding == PG_UTF8 || encoding == PG_SQL_ASCII)
	{
		appendBinaryStringInfo(piece, (char *) utf8, len);
		return true;
	}
	conversion = FindDefaultConversionProc(PG_UTF8, encoding);
	if (!OidIsValid(conversion) ||
		pg_do_encoding_conversion_buf(conversion, PG_UTF8, encoding, utf8, len,
									  converted, sizeof(converted), true) != len)
		return false;
	appendStringInfoString(piece, (char *) converted);
	return true;
}

/* The four digits after \u, which are known to be digits. */
static pg_wchar
unicode_escape(const char *escape)
{
	pg_wchar	code = 0;
	int			i;

	for (i = 2; i < 6; i++)
	{
		char		c = escape[i];

		code = code * 16 + (c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
	}
	return code;
}

/*
 * Append the character of an escape and move behind it; false if it is none
 * that a text can have.
 */
static bool
append_unescaped(StringInfo piece, const char **from, const char *end)
{
	static const char letters[] = "bfnrt";
	static const char meanings[] = "\b\f\n\r\t";
	const char *escape = *from;
	const char *letter;
	pg_wchar	code;

	if (escape[1] != 'u')
	{
		letter = strchr(letters, escape[1]);
		appendStringInfoChar(piece, letter == NULL ? escape[1] :
							 meanings[letter - letters]);
		*from += 2;
		return true;
	}
	*from += 6;
	code = unicode_escape(escape);
	if (code >= 0xD800 && code <= 0xDBFF &&
		end - *from >= 6 && (*from)[0] == '\\' && (*from)[1] == 'u')
	{
		pg_wchar	low = unicode_escape(*from);

		if (low >= 0xDC00 && low <= 0xDFFF)
		{
			code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
			*from += 6;
		}
	}
	return append_code_point(piece, code);
}

/* Rewrite what is between the quotes of a string. */
static void
copy_string(JsonCopy *copy, const char *raw, const char *end)
{
	const char *from = raw;

	if (memchr(raw, '\\', end - raw) == NULL)
	{
		copy_piece(copy, raw, end, raw, end - raw);
		return;
	}
	if (copy->piece.data == NULL)
		initStringInfo(&copy->piece);
	resetStringInfo(&copy->piece);
	while (from < end)
	{
		const char *escape = memchr(from, '\\', end - from);

		if (escape == NULL)
			escape = end;
		appendBinaryStringInfo(&copy->piece, from, (int) (escape - from));
		from = escape;
		if (from < end && !append_unescaped(&copy->piece, &from, end))
		{
			copy_piece(copy, raw, escape, copy->piece.data, copy->piece.len);
			resetStringInfo(&copy->piece);
			raw = from;
		}
	}
	copy_piece(copy, raw, end, copy->piece.data, copy->piece.len);
}

/* Copy all tokens; afterwards the input before copy->copied is done. */
static void
copy_tokens(JsonCopy *copy, text *json)
{
	JsonLexContext *lexer = acdat_json_lexer(VARDATA_ANY(json),
											 VARSIZE_ANY_EXHDR(json),
											 GetDatabaseEncoding());
	const char *string = NULL;
	const char *string_end = NULL;

	do
	{
		CHECK_FOR_INTERRUPTS();
		if (json_lex(lexer) != JSON_SUCCESS)
			ereport(ERROR,
					(errcode(ERRCODE_DATA_CORRUPTED),
					 errmsg("value of type json is not valid")));
		if (string != NULL && lexer->token_type != JSON_TOKEN_COLON)
			copy_string(copy, string + 1, string_end - 1);
		string = NULL;
		if (lexer->token_type == JSON_TOKEN_STRING)
		{
			string = lexer->token_start;
			string_end = lexer->token_terminator;
		}
	} while (lexer->token_type != JSON_TOKEN_END);
}

Datum
acdat_rewrite_json(AcdatRewriter *rewriter, Datum value)
{
	text	   *json = DatumGetTextPP(value);
	const char *end = VARDATA_ANY(json) + VARSIZE_ANY_EXHDR(json);
	JsonCopy	copy = {0};

	copy.rewriter = rewriter;
	copy.copied = VARDATA_ANY(json);
	copy_tokens(&copy, json);
	if (copy.output.data == NULL)
		return value;
	appendBinaryStringInfo(&copy.output, copy.copied, (int) (end - copy.copied));
	SET_VARSIZE(copy.output.data, copy.output.len);
	return PointerGetDatum(copy.output.data);
}

/* Does anything match in a string value of a document? */
static bool
has_match(AcdatRewriter *rewriter, Jsonb *document)
{
	JsonbIterator *iterator = JsonbIteratorInit(&document->root);
	JsonbIteratorToken token;
	JsonbValue	value;
	bool		found = false;
	Size		scanned = 0;

	while (!found &&
		   (token = JsonbIteratorNext(&iterator, &value, false)) != WJB_DONE)
	{
		CHECK_FOR_INTERRUPTS();
		if ((token != WJB_VALUE && token != WJB_ELEM) ||
			value.type != jbvString)
			continue;
		acdat_raise_scan_error(acdat_contains(rewriter->ref->scan,
											  value.val.string.val,
											  (Size) value.val.string.len,
											  &found));
		scanned += (Size) value.val.string.len;
	}
	/* else it is counted when it is rewritten */
	if (!found)
		acdat_count_scan(rewriter->ref, scanned, 0);
	return found;
}

/* A string value, rewritten or as it is. */
static text *
rewrite_string(void *rewriter, char *bytes, int len)
{
	text	   *result = acdat_rewrite_piece(rewriter, bytes, (Size) len);

	return result != NULL ? result : cstring_to_text_with_len(bytes, len);
}

Datum
acdat_rewrite_jsonb(AcdatRewriter *rewriter, Datum value)
{
	Jsonb	   *document = DatumGetJsonbP(value);

	if (!has_match(rewriter, document))
		return value;
	return JsonbPGetDatum(transform_jsonb_string_values(document, rewriter,
														rewrite_string));
}
