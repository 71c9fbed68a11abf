--
-- matches() and first_match() with machine values
--
CREATE TEMP TABLE m AS
	SELECT acdat.compile(p, i::bigint, i * 10, NULL) AS machine
	FROM (VALUES ('he', 1), ('she', 2), ('his', 3), ('hers', 4)) v(p, i);

SELECT h.* FROM m, acdat.matches('ushers', machine) h;
SELECT h.pattern_id, h.byte_pos, h.byte_len
FROM m, acdat.matches('his ushers', machine, 'leftmost_longest') h;
SELECT h.pattern_id, h.byte_pos, h.byte_len
FROM m, acdat.matches('his ushers', machine, 'leftmost_first') h;
SELECT * FROM m, acdat.matches('nothing', machine);
SELECT * FROM m, acdat.matches('', machine);
SELECT * FROM m, acdat.matches(NULL::text, machine);

-- in the select list, beside other sets, in FROM with ordinality
SELECT (acdat.matches('ushers', machine)).pattern_id,
	generate_series(1, 2) AS g
FROM m;
SELECT h.ordinality, h.pattern_id
FROM m, acdat.matches('ushers', machine) WITH ORDINALITY h;

-- first_match
SELECT (f).* FROM (SELECT acdat.first_match('ushers', machine) FROM m) x(f);
SELECT (acdat.first_match('ushers', machine, 'all_overlapping')).byte_len FROM m;
SELECT acdat.first_match('nothing', machine) IS NULL AS none FROM m;

-- characters: substr() by them gives what matched
-- unaligned, since psql of different versions differ in how wide an emoji is
\a
WITH d AS (
	SELECT acdat.compile(p ORDER BY n) AS machine
	FROM (VALUES (1, '知识产权'), (2, '国家知识产权局'), (3, '权'), (4, 'é'),
		(5, '👨‍👩‍👦'), (6, '👦')) v(n, p))
SELECT t, h.pattern_id AS id, h.byte_pos, h.byte_len, h.char_pos, h.char_len,
	substr(t, h.char_pos, h.char_len) AS matched,
	convert_from(substr(t::bytea, h.byte_pos, h.byte_len), 'UTF8')
		= substr(t, h.char_pos, h.char_len) AS same
FROM d, (VALUES (1, '国家知识产权'), (2, 'le café du 国家知识产权局'),
	(3, 'x👨‍👩‍👦é')) v(n, t), acdat.matches(t, machine) h
ORDER BY n, h.byte_pos, h.byte_len;
\a

-- the same for matches far into a large text
WITH d AS (SELECT acdat.compile(p ORDER BY n) AS machine
		   FROM (VALUES (1, 'nadel'), (2, 'heu'), (3, 'äöü'), (4, 'ü')) v(n, p))
SELECT h.pattern_id, h.byte_pos, h.char_pos,
	substr(t, h.char_pos, h.char_len) AS matched
FROM d, (SELECT repeat('ä', 50000) || 'nadel' || repeat('€', 70000) || 'heuäöü') v(t),
	acdat.matches(t, machine) h;

-- long matches that overlap: their lengths in characters
SELECT min(char_pos), max(char_pos), sum(char_pos), min(char_len),
	max(char_len), count(*)
FROM (SELECT acdat.compile(repeat('ä', i * 100)) AS machine
	  FROM generate_series(1, 5) i) d,
	acdat.matches(repeat('ä', 1000), machine);

-- positions against a definition that cannot be wrong: every substring
WITH p AS (SELECT * FROM (VALUES (1, 'a'), (2, 'ab'), (3, 'bab'), (4, 'bb'),
		(5, 'abba'), (6, 'é'), (7, 'aé')) v(id, pattern)),
	d AS (SELECT acdat.compile(pattern, id::bigint) AS machine FROM p),
	t AS (SELECT n, (SELECT string_agg((ARRAY['a', 'b', 'é'])[1 + (n * (k + 7) * (k + n) % 101) % 3],
			'' ORDER BY k) FROM generate_series(1, 12) k) AS t
		  FROM generate_series(1, 200) n),
	brute AS (SELECT n, s AS char_pos, id AS pattern_id
			  FROM t, generate_series(1, 12) s, p
			  WHERE substr(t, s, length(pattern)) = pattern),
	found AS (SELECT n, h.char_pos, h.pattern_id
			  FROM t, d, acdat.matches(t, machine) h)
SELECT (SELECT count(*) > 1000 FROM brute) AS enough,
	(SELECT count(*) FROM ((TABLE brute EXCEPT ALL TABLE found)
		UNION ALL (TABLE found EXCEPT ALL TABLE brute)) x) AS differences;

-- order: by start, then end, then id
SELECT array_agg(h.pattern_id) AS ids
FROM (SELECT acdat.compile(p, i::bigint)
	  FROM (VALUES ('aa', 3), ('aa', 1), ('a', 2), ('aaa', 0)) v(p, i)) d(machine),
	acdat.matches('aaa', machine) h;

-- a set that is left early, another one begun before the first ends
SELECT h.pattern_id FROM m, acdat.matches(repeat('she ', 100000), machine) h LIMIT 2;
SELECT acdat.matches(repeat('she ', 100000), machine) FROM m LIMIT 1;
SELECT (SELECT h.byte_pos FROM acdat.matches(t, machine) h OFFSET 1 LIMIT 1)
FROM m, (VALUES (1, 'she'), (2, ' she'), (3, 'no'), (4, '  she')) v(n, t)
ORDER BY n;
BEGIN;
DECLARE a CURSOR FOR SELECT (acdat.matches('he she', machine)).byte_pos FROM m;
DECLARE b CURSOR FOR SELECT (acdat.matches('hers his', machine)).byte_pos FROM m;
FETCH 1 FROM a;
FETCH 1 FROM b;
FETCH 1 FROM a;
FETCH 2 FROM b;
CLOSE b;
FETCH 5 FROM a;
COMMIT;

-- sets given up by an error in between do not use up anything
DO $$
DECLARE
	v acdat.machine;
	n integer := 0;
BEGIN
	FOR i IN 1 .. 100 LOOP
		SELECT acdat.compile(i || 'x' || j, j::bigint) INTO v
		FROM generate_series(1, 20) j;
		BEGIN
			PERFORM (acdat.matches(repeat(i || 'x1', 3), v)).pattern_id / (j - 2)
			FROM generate_series(1, 3) j;
		EXCEPTION WHEN division_by_zero THEN
			n := n + 1;
		END;
	END LOOP;
	RAISE NOTICE '% errors', n;
END
$$;
SELECT acdat.count_matches('she', machine) FROM m;

-- limits
SET acdat_bgw.max_matches = 5;
SELECT count(*) FROM m, acdat.matches('he he he he he he', machine);
SELECT acdat.match_ids('abcdef', acdat.compile(chr(96 + i))) FROM generate_series(1, 6) i;
SELECT count(*) FROM m, acdat.matches('he he he he he', machine);
SELECT acdat.match_ids('he he he he he he', machine) FROM m;
RESET acdat_bgw.max_matches;

-- toasted values: a set per row
CREATE TEMP TABLE big AS
	SELECT i, string_agg(md5((i * j)::text), ' his ') AS t
	FROM generate_series(1, 3) i, generate_series(1, 2000) j GROUP BY i;
SELECT i, count(*), max(byte_pos) = max(length(t)) - 35 AS last_is_right
FROM m, big, acdat.matches(t, machine) GROUP BY i ORDER BY i;
DROP TABLE m, big;
