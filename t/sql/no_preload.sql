--
-- A server without shared_preload_libraries: machine values work, everything
-- about dictionaries says what to do
--
SHOW shared_preload_libraries;

CREATE FUNCTION pg_temp.try(statement text, OUT state text, OUT message text,
	OUT detail text, OUT hint text) LANGUAGE plpgsql AS
$$
BEGIN
	EXECUTE statement;
	message := 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT,
		detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
END
$$;

SELECT * FROM pg_temp.try($$SELECT acdat.contains('text', 'd')$$) \gx

-- all of them the same way
SELECT statement, state,
	message = 'acdat_bgw must be loaded via shared_preload_libraries' AS message,
	hint = 'Add the line shared_preload_libraries = ''acdat_bgw'' to postgresql.conf and restart the server.' AS hint
FROM unnest(ARRAY[
	$$SELECT acdat.contains('\x00'::bytea, 'd')$$,
	$$SELECT acdat.count_matches('text', 'd')$$,
	$$SELECT acdat.count_matches('\x00'::bytea, 'd')$$,
	$$SELECT acdat.match_ids('text', 'd')$$,
	$$SELECT acdat.match_ids('\x00'::bytea, 'd')$$,
	$$SELECT acdat.first_match('text', 'd')$$,
	$$SELECT acdat.first_match('\x00'::bytea, 'd')$$,
	$$SELECT acdat.matches('text', 'd')$$,
	$$SELECT acdat.matches('\x00'::bytea, 'd')$$,
	$$SELECT * FROM acdat.matches('text', 'd')$$,
	$$SELECT acdat.replace('text', 'd')$$,
	$$SELECT acdat.replace('\x00'::bytea, 'd')$$,
	$$SELECT acdat.redact('text', 'd')$$,
	$$SELECT acdat.redact('\x00'::bytea, 'd')$$,
	$$SELECT acdat.publish('d', 'SELECT 1')$$,
	$$SELECT acdat.publish('d', ARRAY['x'])$$,
	$$SELECT acdat.republish('d')$$,
	$$SELECT acdat.rollback('d', 1)$$,
	$$SELECT acdat.drop_dictionary('d')$$,
	$$SELECT acdat.rename_dictionary('d', 'e')$$,
	$$SELECT acdat.set_reader('d', 'public')$$,
	$$SELECT acdat.patterns('d')$$
]) statement, pg_temp.try(statement);

-- the views are there and empty
SELECT count(*) FROM acdat.dictionaries;
SELECT count(*) FROM acdat.versions;
SELECT count(*) FROM acdat.generations;
SELECT count(*) FROM acdat.worker;

-- NULL is never scanned, so nothing is missing
SELECT acdat.contains(NULL::text, 'd') IS NULL AS contains,
	acdat.redact(NULL::text, 'd') IS NULL AS redact;

-- machine values do not need the preload
SELECT acdat.contains('a needle', acdat.compile('needle'::text));

-- the settings are known, but for the one that only the start of a server can set
SELECT name, context, setting, unit
FROM pg_settings WHERE name LIKE 'acdat\_bgw.%' ORDER BY name COLLATE "C";

-- rows that a restore brings stay, and wait for a server with the preload
INSERT INTO acdat.dictionary (id, name, owner, version, revision)
	VALUES ('00000000-0000-4000-8000-000000000001', 'restored', current_user, 1, 1);
SELECT name, version, reader, cluster, keep_versions FROM acdat.dictionary;
DELETE FROM acdat.dictionary;
