--
-- The aggregate acdat.compile()
--

-- ids default to the number of the row
SELECT acdat.match_ids('ushers', acdat.compile(p ORDER BY n))
FROM (VALUES (1, 'he'), (2, 'she'), (3, 'his'), (4, 'hers')) v(n, p);

-- given ids, NULL meaning the default
SELECT acdat.match_ids('ushers', acdat.compile(p, i ORDER BY n))
FROM (VALUES (1, 'he', 100), (2, 'she', NULL), (3, 'his', 300),
	(4, 'hers', -9223372036854775808)) v(n, p, i);
SELECT acdat.match_ids('a', acdat.compile('a', 9223372036854775807));

-- priority and replacement
SELECT m.*
FROM (SELECT acdat.compile(p, i::bigint, prio, r) AS machine
	  FROM (VALUES ('ab', 1, 5, 'X'), ('abc', 2, NULL, NULL)) v(p, i, prio, r)) c,
	acdat.matches('zabc', machine, 'leftmost_first') m;
SELECT acdat.replace('zabc abd', acdat.compile(p, i::bigint, 0, r))
FROM (VALUES ('abc', 1, 'X'), ('abd', 2, '')) v(p, i, r);

-- the same pattern twice: equal in every attribute is one, otherwise two
SELECT i.patterns
FROM (SELECT acdat.compile(p, i::bigint)
	  FROM (VALUES ('a', 1), ('a', 1), ('a', 2)) v(p, i)) c(machine),
	acdat.machine_info(machine) i;

-- no rows, no machine; FILTER; GROUP BY; DISTINCT
SELECT acdat.compile(p) IS NULL AS none FROM (SELECT 'x' WHERE false) v(p);
SELECT acdat.match_ids('abc', acdat.compile(p, n::bigint)
	FILTER (WHERE p IS NOT NULL))
FROM (VALUES (1, 'a'), (2, NULL), (3, 'c')) v(n, p);
SELECT g, acdat.match_ids('abcd', acdat.compile(p, n::bigint))
FROM (VALUES (1, 'a', 'odd'), (2, 'b', 'even'), (3, 'c', 'odd'),
	(4, 'd', 'even')) v(n, p, g)
GROUP BY g ORDER BY g;
SELECT (acdat.machine_info(acdat.compile(DISTINCT p))).patterns
FROM (VALUES ('a'), ('a'), ('b')) v(p);
SELECT acdat.compile(p) OVER () FROM (VALUES ('a')) v(p);

-- patterns of every kind of text column
SELECT acdat.match_ids('café au lait', acdat.compile(p ORDER BY p))
FROM (VALUES ('é'::varchar(5)), ('lait'), (' ')) v(p);

-- bytea patterns: all 256 byte values
SELECT (acdat.machine_info(acdat.compile(p))).encoding,
	cardinality(acdat.match_ids(string_agg(p, ''::bytea), acdat.compile(p)))
FROM (SELECT set_byte('\x00'::bytea, 0, b) FROM generate_series(0, 255) b) v(p);

-- long patterns
SELECT acdat.count_matches(repeat('x', 60000), acdat.compile(repeat('x', 60000)));

-- refusals name the row, never the pattern
SELECT acdat.compile(p) FROM (VALUES ('a'), ('b'), (NULL)) v(p);
SELECT acdat.compile(p) FROM (VALUES ('a'), ('')) v(p);
SELECT acdat.compile(p) FROM (VALUES ('\x61'::bytea), ('\x'::bytea)) v(p);
SELECT acdat.compile(p) FROM (VALUES ('a'), (repeat('y', 65537))) v(p);
