--
-- What is refused, with its SQLSTATE, detail and hint
--
CREATE FUNCTION pg_temp.try(statement text) RETURNS text LANGUAGE plpgsql AS
$$
DECLARE
	d text;
	h text;
BEGIN
	EXECUTE statement;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS d = PG_EXCEPTION_DETAIL, h = PG_EXCEPTION_HINT;
	RETURN concat_ws(E'\n', SQLSTATE || ': ' || SQLERRM, nullif(d, ''),
		nullif(h, ''));
END
$$;
CREATE TEMP TABLE m AS SELECT acdat.compile('word'::text) AS machine;
CREATE TEMP TABLE b AS SELECT acdat.compile('word'::bytea) AS machine;

SELECT statement, pg_temp.try(statement)
FROM unnest(ARRAY[
	$$SELECT acdat.count_matches('x', machine, 'best') FROM m$$,
	$$SELECT acdat.match_ids('x', machine, 'best') FROM m$$,
	$$SELECT acdat.first_match('x', machine, 'best') FROM m$$,
	$$SELECT acdat.matches('x', machine, 'best') FROM m$$,
	$$SELECT acdat.replace('x', machine, 'best') FROM m$$,
	$$SELECT acdat.replace('x', machine, 'all_overlapping') FROM m$$,
	$$SELECT acdat.redact('x', machine, 'best') FROM m$$,
	$$SELECT acdat.redact('x', machine, 'chars', 'ab') FROM m$$,
	$$SELECT acdat.contains('x', machine) FROM b$$,
	$$SELECT acdat.matches('x', machine) FROM b$$,
	$$SELECT acdat.redact('x'::bytea, machine, 'chars', 'é') FROM m$$,
	$$SET LOCAL acdat_bgw.max_matches = 2; SELECT acdat.matches('wordwordword', machine) FROM m$$,
	$$SET LOCAL acdat_bgw.max_matches = 2; SELECT acdat.match_ids('abc', acdat.compile(chr(96 + i))) FROM generate_series(1, 3) i$$,
	$$SET LOCAL acdat_bgw.max_output_bytes = 1000; SELECT acdat.replace(repeat('word', 300), machine) FROM m$$,
	$$SET LOCAL acdat_bgw.max_output_bytes = 1000; SELECT acdat.redact(repeat('word', 300), machine) FROM m$$,
	$$SELECT acdat.compile(p) OVER () FROM (VALUES ('a')) v(p)$$,
	$$SELECT acdat.compile(NULL::text)$$,
	$$SELECT acdat.compile(''::text)$$,
	$$SELECT acdat.compile(repeat('x', 65537))$$,
	$$SELECT '\x00'::acdat.machine$$,
	$$SET acdat_bgw.max_matches = 0$$,
	$$SET acdat_bgw.max_output_bytes = '2GB'$$,
	$$SET acdat_bgw.max_memory = '1GB'$$,
	$$SET acdat_bgw.no_such_setting = 1$$
]) statement;

-- a pattern never shows in a message
SELECT pg_temp.try(format('SELECT acdat.compile(%L || repeat(''x'', 65537))', 'topsecret'))
	!~ 'topsecret' AS hidden;

-- a scan ends when it is told to
SELECT set_config('acdat_test.machine', acdat.compile(repeat('a', i))::text,
	false) IS NOT NULL AS made
FROM generate_series(1, 300) i;
SET statement_timeout = '50ms';
SELECT acdat.count_matches(repeat('a', 20000000),
	current_setting('acdat_test.machine')::acdat.machine);
SELECT cardinality(acdat.match_ids(repeat('a', 20000000),
	current_setting('acdat_test.machine')::acdat.machine));
SELECT count(*) FROM acdat.matches(repeat('a', 20000000),
	current_setting('acdat_test.machine')::acdat.machine);
RESET statement_timeout;
SELECT acdat.count_matches(repeat('a', 10),
	current_setting('acdat_test.machine')::acdat.machine);
DROP TABLE m, b;
