--
-- acdat.stats: what each function counts, for whom, and beginning anew
--
CREATE ROLE regress_stats;
CREATE ROLE regress_stats_owner;
GRANT EXECUTE ON FUNCTION acdat.publish(text, text[], text, text, text, text, text, boolean, boolean, integer)
	TO regress_stats_owner;
SELECT acdat.publish('stats', ARRAY['he', 'she', 'hers'], reader => 'public');
SELECT table_name, string_agg(column_name || ' ' || data_type, ', ' ORDER BY ordinal_position) AS columns
FROM information_schema.columns WHERE table_schema = 'acdat' AND table_name = 'stats'
GROUP BY table_name;
-- a dictionary that nobody used
SELECT database = current_database() AS here, dictionary, calls, bytes, matches, stats_reset <= clock_timestamp() AS has_time
FROM acdat.stats WHERE dictionary = 'stats';

-- one function after the other; each line begins anew
CREATE FUNCTION pg_temp.counted(statement text, OUT calls bigint, OUT bytes bigint, OUT matches bigint)
LANGUAGE plpgsql AS $$
BEGIN
	PERFORM acdat.stats_reset('stats');
	EXECUTE statement;
	SELECT s.calls, s.bytes, s.matches INTO calls, bytes, matches FROM acdat.stats s WHERE dictionary = 'stats';
END $$;
SELECT c.*, statement FROM unnest(ARRAY[
	$$SELECT acdat.contains('ushers', 'stats')$$,
	$$SELECT acdat.contains('nothing', 'stats')$$,
	$$SELECT acdat.contains('ushers'::bytea, 'stats')$$,
	$$SELECT acdat.contains(NULL, 'stats')$$,
	$$SELECT acdat.count_matches('ushers', 'stats')$$,
	$$SELECT acdat.count_matches('ushers', 'stats', 'leftmost_longest')$$,
	$$SELECT acdat.match_ids('he he he', 'stats')$$,
	$$SELECT acdat.first_match('ushers', 'stats')$$,
	$$SELECT acdat.first_match('none', 'stats')$$,
	$$SELECT count(*) FROM acdat.matches('ushers he', 'stats')$$,
	$$SELECT acdat.matches('ushers he', 'stats') LIMIT 2$$,
	$$SELECT acdat.replace('he or she', 'stats')$$,
	$$SELECT acdat.redact('he or she', 'stats')$$,
	$$SELECT acdat.redact('he or she', 'stats', 'tag')$$,
	$$SELECT acdat.redact(ARRAY['he', NULL, 'nothing', 'she'], 'stats')$$,
	$$SELECT acdat.redact('{"a": ["he", "nothing", 1], "he": "she"}'::jsonb, 'stats')$$,
	$$SELECT acdat.redact('{"a": ["xx", "nothing", 1], "he": "yyy"}'::jsonb, 'stats')$$,
	$$SELECT acdat.redact('{"a": ["he", "nothing", 1], "he": "she"}'::json, 'stats')$$,
	$$SELECT acdat.contains(v, 'stats') FROM unnest('{she,it,he}'::text[]) v$$,
	$$SELECT acdat.contains('she', (SELECT acdat.compile('she')))$$
	]) WITH ORDINALITY u(statement, n), pg_temp.counted(statement) c ORDER BY n;

-- the trigger counts each column
CREATE TABLE stats_rows (a text, b text);
CREATE TRIGGER redact BEFORE INSERT ON stats_rows
	FOR EACH ROW EXECUTE FUNCTION acdat.redact_trigger('stats', 'a', 'b');
SELECT * FROM pg_temp.counted($$INSERT INTO stats_rows VALUES ('she', 'it'), ('he', NULL)$$);
DROP TABLE stats_rows;

-- ROLLBACK takes nothing back, an error neither
SELECT acdat.stats_reset('stats');
BEGIN;
SELECT acdat.contains('she', 'stats');
ROLLBACK;
SET acdat_bgw.max_matches = 1;
SELECT count(*) FROM acdat.matches('she', 'stats');
RESET acdat_bgw.max_matches;
SELECT calls, bytes, matches FROM acdat.stats WHERE dictionary = 'stats';

-- versions, names and the abort of a first version
SELECT acdat.publish('stats', ARRAY['it']);
SELECT acdat.contains('it', 'stats');
SELECT acdat.rename_dictionary('stats', 'stats_2');
SELECT acdat.contains('it', 'stats_2');
SELECT dictionary, calls FROM acdat.stats WHERE dictionary LIKE 'stats%';
BEGIN;
SELECT acdat.publish('stats_3', ARRAY['it']);
SELECT acdat.contains('it', 'stats_3');
SELECT dictionary, calls FROM acdat.stats WHERE dictionary = 'stats_3';
ROLLBACK;
SELECT dictionary, calls FROM acdat.stats WHERE dictionary = 'stats_3';

-- everybody sees the counts; the owner begins anew
SET ROLE regress_stats_owner;
SELECT acdat.publish('stats_owned', ARRAY['it'], reader => 'public');
SET ROLE regress_stats;
SELECT acdat.contains('it', 'stats_owned');
SELECT dictionary, calls FROM acdat.stats WHERE dictionary LIKE 'stats%' ORDER BY 1;
SELECT acdat.stats_reset('stats_owned');
SELECT acdat.stats_reset('nonexistent');
SELECT acdat.stats_reset();
SELECT dictionary, calls FROM acdat.stats WHERE dictionary LIKE 'stats%' ORDER BY 1;
SET ROLE regress_stats_owner;
SELECT acdat.stats_reset();
SELECT dictionary, calls FROM acdat.stats WHERE dictionary LIKE 'stats%' ORDER BY 1;
RESET ROLE;
SELECT acdat.stats_reset(NULL);
SELECT dictionary, calls FROM acdat.stats WHERE dictionary LIKE 'stats%' ORDER BY 1;

-- a dictionary that is dropped takes its counts along
SELECT acdat.contains('it', 'stats_2');
SELECT acdat.drop_dictionary(name) FROM unnest('{stats_2,stats_owned}'::text[]) name;
SELECT dictionary FROM acdat.stats WHERE dictionary LIKE 'stats%';
SELECT acdat.publish('stats_2', ARRAY['it']);
SELECT dictionary, calls FROM acdat.stats WHERE dictionary LIKE 'stats%';
SELECT acdat.drop_dictionary('stats_2');
REVOKE ALL ON FUNCTION acdat.publish(text, text[], text, text, text, text, text, boolean, boolean, integer)
	FROM regress_stats_owner;
DROP ROLE regress_stats, regress_stats_owner;
