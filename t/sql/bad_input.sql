--
-- Bad input: each is refused with its SQLSTATE, message, detail and hint, and
-- changes nothing
--
CREATE TABLE bad_term (pattern text, id bigint);
INSERT INTO bad_term VALUES ('good', 1);
SELECT acdat.publish('bad', 'TABLE bad_term', reader => 'public');
SELECT acdat.publish('bad_array', ARRAY['good']);

-- everything that can be seen of dictionaries
CREATE FUNCTION bad_state() RETURNS text LANGUAGE sql AS
$$
	SELECT md5(concat(
		(SELECT string_agg(d::text, ',' ORDER BY d.id) FROM acdat.dictionary d),
		(SELECT string_agg(v::text, ',' ORDER BY v.dictionary, v.version)
		 FROM acdat.dictionary_version v),
		(SELECT string_agg(concat_ws(' ', g.dictionary, g.version, g.revision, g.cluster, g.patterns), ','
			ORDER BY g.dictionary)
		 FROM acdat.generations g
		 WHERE g.database = current_database() AND g.state = 'live'),
		acdat.contains('a good one', 'bad'), acdat.contains('a good one', 'bad_array')))
$$;

-- the outcome of a statement, and whether it changed anything
CREATE FUNCTION bad_try(statement text, OUT state text, OUT message text,
	OUT detail text, OUT hint text, OUT changed text) LANGUAGE plpgsql AS
$$
DECLARE
	before text := bad_state();
BEGIN
	BEGIN
		EXECUTE statement;
		message := 'no error';
	EXCEPTION WHEN OTHERS THEN
		GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT,
			detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	END;
	changed := CASE WHEN bad_state() <> before THEN 'changed' END;
END
$$;
-- it does notice changes
SELECT message, changed FROM bad_try($$SELECT acdat.publish('bad', 'TABLE bad_term')$$);
SELECT message, changed FROM bad_try($$SELECT 1$$);

\x on
-- an unknown dictionary
SELECT b.* FROM bad_try($$SELECT acdat.contains('x', 'bad_no')$$) b;
SELECT b.state, b.message, b.changed FROM unnest(ARRAY[
	$$SELECT acdat.contains('x', '')$$,
	$$SELECT acdat.contains('x', 'BAD')$$,
	$$SELECT acdat.contains('x', 'bad ')$$,
	$$SELECT acdat.contains('x', repeat('bad', 30))$$,
	$$SELECT acdat.count_matches('x', 'bad_no')$$,
	$$SELECT acdat.match_ids('x', 'bad_no')$$,
	$$SELECT acdat.first_match('x', 'bad_no')$$,
	$$SELECT acdat.matches('x', 'bad_no')$$,
	$$SELECT acdat.replace('x', 'bad_no')$$,
	$$SELECT acdat.redact('x', 'bad_no')$$,
	$$SELECT acdat.redact('x'::bytea, 'bad_no')$$,
	$$SELECT acdat.republish('bad_no')$$,
	$$SELECT acdat.rollback('bad_no', 1)$$,
	$$SELECT acdat.drop_dictionary('bad_no')$$,
	$$SELECT acdat.rename_dictionary('bad_no', 'bad_new')$$,
	$$SELECT acdat.set_reader('bad_no', 'public')$$,
	$$SELECT acdat.patterns('bad_no')$$]) s, bad_try(s) b;

-- an empty pattern, by the number of its row
SELECT b.* FROM bad_try($$SELECT acdat.publish('bad', 'SELECT repeat(''x'', 3 - i) AS pattern FROM generate_series(1, 5) i')$$) b;
SELECT b.* FROM bad_try($$SELECT acdat.publish('bad_new', ARRAY['a', ''])$$) b;
SELECT b.* FROM bad_try($$SELECT acdat.publish('bad_new', 'SELECT CASE WHEN i < 1500 THEN md5(i::text) ELSE '''' END AS pattern FROM generate_series(1, 2000) i')$$) b;
SELECT b.* FROM bad_try($$SELECT acdat.publish('bad_new', 'SELECT ''\x''::bytea AS pattern')$$) b;
-- one that only the ignore set makes empty
SELECT b.* FROM bad_try($$SELECT acdat.publish('bad_new', ARRAY['a-b', '--'], ignore => '-')$$) b;

-- a NULL pattern
SELECT b.* FROM bad_try($$SELECT acdat.publish('bad', 'SELECT nullif(i, 3)::text AS pattern FROM generate_series(1, 5) i')$$) b;
SELECT b.* FROM bad_try($$SELECT acdat.publish('bad_new', ARRAY[NULL])$$) b;

-- an over-long pattern
SELECT b.* FROM bad_try($$SELECT acdat.publish('bad', 'SELECT repeat(''x'', 65534 + i) AS pattern FROM generate_series(1, 3) i')$$) b;
SELECT b.* FROM bad_try($$SELECT acdat.publish('bad_new', ARRAY[repeat('é', 32769)])$$) b;

-- a query without a column pattern
SELECT b.* FROM bad_try($$SELECT acdat.publish('bad', 'SELECT ''x'' AS term')$$) b;
SELECT b.state, b.message FROM unnest(ARRAY[
	$$SELECT acdat.publish('bad', 'SELECT ''x'' AS "Pattern"')$$,
	$$SELECT acdat.publish('bad', 'SELECT')$$,
	$$SELECT acdat.publish('bad', 'SELECT WHERE false')$$]) s, bad_try(s) b;

-- columns of wrong types
SELECT s, b.state, b.message, b.detail, b.hint, b.changed FROM unnest(ARRAY[
	$$SELECT acdat.publish('bad', 'SELECT 1 AS pattern')$$,
	$$SELECT acdat.publish('bad', 'SELECT ''{x}''::text[] AS pattern')$$,
	$$SELECT acdat.publish('bad', 'SELECT ''{}''::jsonb AS pattern')$$,
	$$SELECT acdat.publish('bad', 'SELECT ''x'' AS pattern, ''1'' AS id')$$,
	$$SELECT acdat.publish('bad', 'SELECT ''x'' AS pattern, 1.5 AS id')$$,
	$$SELECT acdat.publish('bad', 'SELECT ''x'' AS pattern, now() AS priority')$$,
	$$SELECT acdat.publish('bad', 'SELECT ''x'' AS pattern, 1 AS replacement')$$,
	$$SELECT acdat.publish('bad', 'SELECT ''x'' AS pattern, true AS tag')$$,
	$$SELECT acdat.publish('bad', 'SELECT ''x'' AS pattern, ''yes'' AS allow')$$]) s, bad_try(s) b;
-- values out of range
SELECT b.* FROM bad_try($$SELECT acdat.publish('bad', 'SELECT ''x'' AS pattern, 2147483648 AS priority')$$) b;
-- bytes that are no text, where text is needed
SELECT b.* FROM bad_try($$SELECT acdat.publish('bad', 'SELECT ''x'' AS pattern, ''\xff''::bytea AS replacement')$$) b;
SELECT b.* FROM bad_try($$SELECT acdat.publish('bad', 'SELECT ''x'' AS pattern, ''\xff''::bytea AS tag')$$) b;
SELECT b.* FROM bad_try($$SELECT acdat.publish('bad', 'SELECT ''x''::bytea AS pattern, ''\xff''::bytea AS tag')$$) b;

-- a bad policy name
SELECT b.* FROM bad_try($$SELECT acdat.count_matches('x', 'bad', 'best')$$) b;
SELECT b.state, b.message, b.hint FROM unnest(ARRAY[
	$$SELECT acdat.match_ids('x', 'bad', '')$$,
	$$SELECT acdat.first_match('x', 'bad', 'merged')$$,
	$$SELECT acdat.matches('x', 'bad', 'ALL_OVERLAPPING')$$,
	$$SELECT acdat.replace('x', 'bad', 'longest')$$,
	$$SELECT acdat.replace('x', 'bad', 'all_overlapping')$$]) s, bad_try(s) b;

-- a bad style, an invalid mask
SELECT b.* FROM bad_try($$SELECT acdat.redact('x', 'bad', 'stars')$$) b;
SELECT b.* FROM bad_try($$SELECT acdat.redact('x', 'bad', 'chars', '')$$) b;
SELECT b.* FROM bad_try($$SELECT acdat.redact('x', 'bad', 'chars', '**')$$) b;
SELECT b.* FROM bad_try($$SELECT acdat.redact('x'::bytea, 'bad', 'chars', 'é')$$) b;

-- an empty dictionary
SELECT b.* FROM bad_try($$SELECT acdat.publish('bad', 'SELECT ''x'' AS pattern WHERE false')$$) b;
SELECT b.* FROM bad_try($$SELECT acdat.publish('bad_new', '{}'::text[])$$) b;
SELECT b.* FROM bad_try($$SELECT acdat.publish('bad_new', '{}'::text[], allow_empty => false)$$) b;
SELECT b.* FROM bad_try($$DELETE FROM bad_term; SELECT acdat.republish('bad')$$) b;

-- output over the limit, too many matches
SELECT b.* FROM bad_try($$SET LOCAL acdat_bgw.max_output_bytes = 100; SELECT acdat.redact(repeat('a good one', 20), 'bad', 'fixed')$$) b;
SELECT b.* FROM bad_try($$SET LOCAL acdat_bgw.max_output_bytes = 100; SELECT acdat.replace(repeat('a good one', 20), 'bad')$$) b;
SELECT b.* FROM bad_try($$SET LOCAL acdat_bgw.max_matches = 3; SELECT acdat.matches(repeat('a good one', 20), 'bad')$$) b;
SELECT b.* FROM bad_try($$SET LOCAL acdat_bgw.max_matches = 3; SELECT count(*) FROM acdat.matches(repeat('a good one', 20), 'bad')$$) b;
SHOW acdat_bgw.max_matches;

-- bad options
SELECT s, b.state, b.message, b.hint, b.changed FROM unnest(ARRAY[
	$$SELECT acdat.publish('bad', ARRAY['x'], case_insensitive => 'yes')$$,
	$$SELECT acdat.publish('bad', ARRAY['x'], case_insensitive => '')$$,
	$$SELECT acdat.publish('bad', ARRAY['x'], case_insensitive => 'ASCII')$$,
	$$SELECT acdat.publish('bad', ARRAY['x'], normalization => 'nfc')$$,
	$$SELECT acdat.publish('bad', ARRAY['x'], boundary => 'line')$$,
	$$SELECT acdat.publish('bad', ARRAY['x'], keep_versions => 0)$$,
	$$SELECT acdat.publish('bad', ARRAY['x'], keep_versions => -1)$$,
	$$SELECT acdat.publish('bad', ARRAY['x'], keep_versions => 1001)$$]) s, bad_try(s) b;
SELECT b.* FROM bad_try($$SELECT acdat.publish('bad', 'SELECT ''x''::bytea AS pattern', case_insensitive => 'unicode')$$) b;
SELECT b.* FROM bad_try($$SELECT acdat.publish('bad', 'SELECT ''x''::bytea AS pattern', normalization => 'nfkc')$$) b;

-- roles that are not there
SELECT b.* FROM bad_try($$SELECT acdat.publish('bad', ARRAY['x'], reader => 'regress_nobody')$$) b;
SELECT b.* FROM bad_try($$SELECT acdat.set_reader('bad', 'regress_nobody')$$) b;

-- bad names
SELECT b.* FROM bad_try($$SELECT acdat.publish('', ARRAY['x'])$$) b;
SELECT b.* FROM bad_try($$SELECT acdat.publish(repeat('x', 64), ARRAY['x'])$$) b;
SELECT b.* FROM bad_try($$SELECT acdat.rename_dictionary('bad', '')$$) b;
SELECT b.* FROM bad_try($$SELECT acdat.rename_dictionary('bad', repeat('é', 32))$$) b;
SELECT b.* FROM bad_try($$SELECT acdat.rename_dictionary('bad', 'bad_array')$$) b;
SELECT b.* FROM bad_try($$SELECT acdat.rollback('bad', 7)$$) b;
SELECT b.* FROM bad_try($$SELECT acdat.patterns('bad', 7)$$) b;
SELECT b.* FROM bad_try($$SELECT acdat.republish('bad_array')$$) b;

-- NULL where something is needed
SELECT b.* FROM bad_try($$SELECT acdat.publish(NULL, ARRAY['x'])$$) b;
SELECT b.* FROM bad_try($$SELECT acdat.publish('bad', NULL::text)$$) b;
SELECT b.* FROM bad_try($$SELECT acdat.publish('bad', NULL::text[])$$) b;

-- queries that are none: syntax errors, other statements, several at once
SELECT s, b.state, b.message, b.hint, b.changed FROM unnest(ARRAY[
	$$SELECT acdat.publish('bad', 'SELEC 1')$$,
	$$SELECT acdat.publish('bad', '')$$,
	$$SELECT acdat.publish('bad', 'SELECT no_such AS pattern FROM bad_term')$$,
	$$SELECT acdat.publish('bad', 'TABLE bad_no_such')$$,
	$$SELECT acdat.publish('bad', 'SELECT $1 AS pattern')$$,
	$$SELECT acdat.publish('bad', 'SELECT (1 / 0)::text AS pattern')$$,
	$$SELECT acdat.publish('bad', 'INSERT INTO bad_term VALUES (''y'', 2)')$$,
	$$SELECT acdat.publish('bad', 'CREATE TABLE bad_made ()')$$,
	$$SELECT acdat.publish('bad', 'DROP TABLE bad_term')$$,
	$$SELECT acdat.publish('bad', 'COMMIT')$$,
	$$SELECT acdat.publish('bad', 'COPY bad_term TO STDOUT')$$,
	$$SELECT acdat.publish('bad', 'SELECT ''x'' AS pattern; DROP TABLE bad_term')$$]) s, bad_try(s) b;
SELECT b.* FROM bad_try($$SELECT acdat.publish('bad', 'SELECT ''y'' AS pattern INTO bad_made')$$) b;

-- a change of a dictionary inside the query that is published for it
SELECT b.* FROM bad_try($$SELECT acdat.publish('bad', 'SELECT acdat.publish(''bad'', ARRAY[''inner''])::text AS pattern')$$) b;
SELECT b.* FROM bad_try($$SELECT acdat.publish('bad', 'SELECT ''x'' AS pattern WHERE acdat.drop_dictionary(''bad'') IS NOT NULL')$$) b;
SELECT s, b.state, b.message, b.changed FROM unnest(ARRAY[
	$$SELECT acdat.publish('bad', 'SELECT acdat.rename_dictionary(''bad'', ''bad_new'')::text || ''x'' AS pattern')$$,
	$$SELECT acdat.publish('bad', 'SELECT acdat.rename_dictionary(''bad_array'', ''bad'')::text || ''x'' AS pattern')$$,
	$$SELECT acdat.publish('bad', 'SELECT acdat.set_reader(''bad'', NULL)::text || ''x'' AS pattern')$$,
	$$SELECT acdat.publish('bad', 'SELECT acdat.rollback(''bad'', 1)::text AS pattern')$$,
	$$SELECT acdat.publish('bad_new', 'SELECT acdat.publish(''bad_new'', ARRAY[''inner''])::text AS pattern')$$]) s, bad_try(s) b;
CREATE FUNCTION bad_again() RETURNS text LANGUAGE plpgsql AS
$$
BEGIN
	PERFORM acdat.publish('bad', 'SELECT bad_again() AS pattern');
	RETURN 'x';
END
$$;
SELECT b.state, b.message, b.changed FROM bad_try($$SELECT bad_again()$$) b;
\x off

-- in transactions that may not write
BEGIN READ ONLY;
SELECT acdat.publish('bad', ARRAY['x']);
ROLLBACK;
BEGIN READ ONLY;
SELECT acdat.drop_dictionary('bad');
ROLLBACK;
BEGIN READ ONLY;
SELECT acdat.contains('a good one', 'bad');
COMMIT;

-- patterns and text do not show in messages
SELECT s, concat(b.message, b.detail, b.hint) ~ 'secret' AS shown FROM unnest(ARRAY[
	$$SELECT acdat.publish('bad', ARRAY['secret', ''])$$,
	$$SELECT acdat.publish('bad', ARRAY['secret' || repeat('x', 65536)])$$,
	$$SELECT acdat.publish('bad', 'SELECT ''secret'' AS pattern, ''secret'' AS id')$$,
	$$SET LOCAL acdat_bgw.max_output_bytes = 10; SELECT acdat.redact('a good secret', 'bad', 'fixed')$$,
	$$SET LOCAL acdat_bgw.max_matches = 1; SELECT acdat.matches('good secret good', 'bad')$$,
	$$SELECT acdat.publish('bad', 'SELECT ''secret'' AS pattern, ''\xff''::bytea AS replacement')$$]) s, bad_try(s) b;

-- after all this both still are what they were
SELECT acdat.match_ids('a good one', name::text), version FROM acdat.dictionaries
WHERE name LIKE 'bad%' ORDER BY name;
SELECT acdat.drop_dictionary(name) FROM acdat.dictionaries WHERE name LIKE 'bad%' ORDER BY name;
DROP FUNCTION bad_state(), bad_try(text), bad_again();
DROP TABLE bad_term;
