--
-- Positions in bytes and characters, in texts of every script
--
SELECT acdat.publish('unicode', ARRAY['知识产权', '国家知识产权局', '👨', U&'\200D', '👦', '👨‍👨‍👦',
	'вст', 'авст', 'мир', '頭', 'é', 'x']);

-- substr() by characters and by bytes give the same
SELECT t, h.pattern_id AS id, h.byte_pos, h.byte_len, h.char_pos, h.char_len,
	substr(t, h.char_pos, h.char_len) = p.pattern AS by_chars,
	substr(convert_to(t, 'UTF8'), h.byte_pos, h.byte_len) = p.pattern_bytes AS by_bytes
FROM (VALUES (1, '国家知识产权'), (2, 'Здравствуй, мир'), (3, 'né'), (4, '𠀀頭x')) v(n, t),
	acdat.matches(t, 'unicode') h JOIN acdat.patterns('unicode') p ON p.id = h.pattern_id
ORDER BY n, h.char_pos, h.char_len;
SELECT policy, string_agg(format('%s[%s,%s)', h.pattern_id, h.char_pos - 1, h.char_pos - 1 + h.char_len), ' '
	ORDER BY h.ordinality) AS matches
FROM unnest('{all_overlapping,leftmost_longest}'::text[]) policy,
	acdat.matches('👨‍👨‍👦', 'unicode', policy) WITH ORDINALITY h
GROUP BY policy ORDER BY policy;
-- a lone joiner, a combining mark with nothing to combine with
SELECT acdat.match_ids(U&'\200DMichael', 'unicode'), acdat.contains(U&'\0301', 'unicode');

-- bytea of the same text: the same bytes, no characters
SELECT count(*) AS matches, count(h.char_pos) AS char_positions
FROM acdat.matches(convert_to('国家知识产权 né', 'UTF8'), 'unicode') h;
-- bytes that are no text are scanned as they are
SELECT h.pattern_id, h.byte_pos, h.byte_len
FROM acdat.matches('\xc3c3a9ffe7'::bytea || convert_to('мир', 'UTF8'), 'unicode') h;
SELECT acdat.redact('\xc3c3a9ff'::bytea, 'unicode'), acdat.redact('\xc3c3a9ff'::bytea, 'unicode', 'fixed', '');

-- one mask for each character, whatever its bytes
SELECT t, acdat.redact(t, 'unicode', 'chars', m) AS redacted,
	char_length(acdat.redact(t, 'unicode', 'chars', m)) = char_length(t) AS same_length
FROM unnest(ARRAY['国家知识产权局', 'Здравствуй', 'né']) t, unnest('{*,█}'::text[]) m;

-- every substring of random text, against a definition that cannot be wrong
SELECT acdat.publish('unicode_r', $$SELECT * FROM (VALUES (1, 'a'), (2, 'é'), (3, 'aé'), (4, '€a'),
	(5, '😀'), (6, 'a😀é'), (7, 'éé'), (8, '€€€')) v(id, pattern)$$);
WITH t AS MATERIALIZED (
		SELECT n, (SELECT string_agg((ARRAY['a', 'é', '€', '😀'])[1 + (n * (k + 7) * (k + n) % 101) % 4], '' ORDER BY k)
			FROM generate_series(1, 15) k) AS t
		FROM generate_series(1, 300) n),
	brute AS (
		SELECT n, s AS char_pos, octet_length(left(t, s - 1)) + 1 AS byte_pos, id AS pattern_id
		FROM t, generate_series(1, 15) s, acdat.patterns('unicode_r') p
		WHERE substr(t, s, length(pattern)) = pattern),
	found AS (
		SELECT n, h.char_pos, h.byte_pos, h.pattern_id FROM t, acdat.matches(t, 'unicode_r') h)
SELECT (SELECT count(*) > 2000 FROM brute) AS enough,
	(SELECT count(*) FROM ((TABLE brute EXCEPT ALL TABLE found)
		UNION ALL (TABLE found EXCEPT ALL TABLE brute)) x) AS differences;
-- and leftmost_longest against a regular expression of the same words
WITH t AS MATERIALIZED (
		SELECT n, (SELECT string_agg((ARRAY['a', 'é', '€', '😀'])[1 + (n * (k + 7) * (k + n) % 101) % 4], '' ORDER BY k)
			FROM generate_series(1, 15) k) AS t
		FROM generate_series(1, 300) n)
SELECT count(*) AS wrong FROM t
WHERE acdat.redact(t, 'unicode_r', 'fixed', '#') IS NULL
	OR (SELECT string_agg(substr(t, h.char_pos, h.char_len), ',')
		FROM acdat.matches(t, 'unicode_r', 'leftmost_longest') h)
	IS DISTINCT FROM (SELECT string_agg(m[1], ',')
		FROM regexp_matches(t, '(?:a😀é|€€€|aé|€a|éé|a|é|😀)', 'g') m);

SELECT acdat.drop_dictionary(name) FROM unnest('{unicode,unicode_r}'::text[]) name;
