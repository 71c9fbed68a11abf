--
-- The functions on bytea values
--
CREATE TEMP TABLE m AS
	SELECT acdat.compile(p, i::bigint, 0, r) AS machine
	FROM (VALUES ('\x6865'::bytea, 1, '\x00'::bytea), ('\x00ff', 2, '\x'),
		('\xff', 3, NULL)) v(p, i, r);

SELECT t, acdat.contains(t, machine), acdat.count_matches(t, machine),
	acdat.match_ids(t, machine), acdat.replace(t, machine),
	acdat.redact(t, machine, 'chars', '!') AS redacted,
	acdat.redact(t, machine, 'fixed', '') AS deleted
FROM m, (VALUES (1, '\x686500'::bytea), (2, '\x6800ff65'), (3, '\x'),
	(4, '\x686500ffff'), (5, '\x00')) v(n, t)
ORDER BY n;

-- positions in characters make no sense here
SELECT h.* FROM m, acdat.matches('\x68656800ff'::bytea, machine) h;
SELECT (acdat.first_match('\x00ff'::bytea, machine)).*  FROM m;

-- a machine of text patterns can scan bytes that are no text
SELECT h.pattern_id, h.byte_pos, h.byte_len, h.char_pos
FROM (SELECT acdat.compile('é'::text)) d(machine),
	acdat.matches('\xffc3a9c3c3a9'::bytea, machine) h;

-- but not the other way round, where bytes are no characters
SELECT acdat.contains('text', machine) FROM m;
SELECT acdat.replace('text', machine) FROM m;
SELECT * FROM m, acdat.matches('text', machine);
SELECT acdat.redact('\x00ff'::bytea, machine, 'chars', 'é') FROM m;

-- all 256 byte values, each found where it is
SELECT count(*) AS wrong
FROM (SELECT acdat.compile(set_byte('\x00'::bytea, 0, b), b::bigint),
		string_agg(set_byte('\x00'::bytea, 0, b), '' ORDER BY b)
	  FROM generate_series(0, 255) b) d(machine, t),
	acdat.matches(t, machine) h
WHERE h.pattern_id <> h.byte_pos - 1 OR h.byte_len <> 1;
DROP TABLE m;
