--
-- replace() with machine values
--
CREATE FUNCTION pg_temp.machine(patterns text[], replacements text[])
	RETURNS acdat.machine LANGUAGE sql AS
$$
	SELECT acdat.compile(p, n, 0, replacements[n] ORDER BY n)
	FROM unnest(patterns) WITH ORDINALITY u(p, n)
$$;

SELECT n, acdat.replace(t, pg_temp.machine(patterns, replacements)) AS replaced
FROM (VALUES
	(1, '{samwise,wise}'::text[], '{SAMWISE,WISE}'::text[], 'samwise is wise'),
	(2, '{bummer}', '{""}', '🤣bummer'),
	(3, '{a}', '{aa}', 'aaa'),
	(4, '{he}', '{she}', 'the'),
	(5, '{x}', '{""}', 'xxx'),
	(6, '{":)",":P"}', '{:smile:,:tongue:}', ':)P'),
	(7, '{ab,cd}', '{12,34}', 'acd'),
	(8, '{keep,drop}', '{NULL,""}', 'keep drop keep'),
	(9, '{a,b}', '{b,a}', 'abba'),
	(10, '{日本}', '{Nippon}', '日本語'),
	(11, '{x}', '{y}', ''),
	(12, '{x}', '{y}', 'nothing')) v(n, patterns, replacements, t)
ORDER BY n;

-- the policy decides
SELECT policy, acdat.replace('abcd', acdat.compile(p, n::bigint, prio, r), policy)
FROM (VALUES (1, 'ab', 1, '<short>'), (2, 'abc', 0, '<long>')) v(n, p, prio, r),
	unnest('{leftmost_longest,leftmost_first}'::text[]) policy
GROUP BY policy ORDER BY policy DESC;
SELECT acdat.replace('abcd', pg_temp.machine('{ab}', '{x}'), 'all_overlapping');
SELECT acdat.replace('abcd', pg_temp.machine('{ab}', '{x}'), 'first');

-- NULL in, NULL out
SELECT acdat.replace(NULL::text, pg_temp.machine('{a}', '{b}')) IS NULL,
	acdat.replace('a', NULL::acdat.machine) IS NULL,
	acdat.replace('a', pg_temp.machine('{a}', '{b}'), NULL) IS NULL;

-- values of every size: against replace() of the server
SELECT count(*) AS wrong
FROM (SELECT pg_temp.machine('{needle}', '{a longer pin}')) d(machine),
	generate_series(0, 20000, 397) n,
	LATERAL (SELECT repeat('.', n) || 'needle' || repeat('hay', n) || 'needle') v(t)
WHERE acdat.replace(t, machine) <> pg_catalog.replace(t, 'needle', 'a longer pin');

-- a value without a match is passed on as it is, toasted or not
CREATE TEMP TABLE big AS
	SELECT string_agg(md5(i::text), '') AS t FROM generate_series(1, 5000) i;
ALTER TABLE big ALTER t SET STORAGE external;
UPDATE big SET t = t || '';
SELECT acdat.replace(t, machine) = t AS same,
	pg_column_size(acdat.replace(t, machine)) = pg_column_size(t) AS same_size
FROM big, (SELECT pg_temp.machine('{zz}', '{yy}')) d(machine);

-- growth stops at the limit
SET acdat_bgw.max_output_bytes = '64kB';
SELECT acdat.replace(repeat('a', 10000), pg_temp.machine('{a}', '{1234567}')) IS NULL;
SELECT length(acdat.replace(repeat('a', 8192), pg_temp.machine('{a}', '{12345678}')));
RESET acdat_bgw.max_output_bytes;
SELECT acdat.replace('aaa', pg_temp.machine('{a}', '{b}'));
