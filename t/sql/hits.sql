--
-- acdat.pattern_hits: what each function counts of which pattern, for whom
--
CREATE ROLE regress_hits;
CREATE ROLE regress_hits_owner;
GRANT EXECUTE ON FUNCTION acdat.publish(text, text, text, text, text, text, text, boolean, boolean, integer)
	TO regress_hits_owner;
CREATE TABLE hits_terms (id bigint, pattern text, replacement text, tag text, priority int);
INSERT INTO hits_terms VALUES (1, 'he', 'x', 'a', 1), (2, 'she', 'y', 'a', 2), (-3, 'hers', 'z', 'b', 3);
SELECT acdat.publish('hits', 'SELECT * FROM hits_terms', reader => 'public');
SELECT table_name, string_agg(column_name || ' ' || data_type, ', ' ORDER BY ordinal_position) AS columns
FROM information_schema.columns WHERE table_schema = 'acdat' AND table_name = 'pattern_hits'
GROUP BY table_name;

-- off by default
SHOW acdat_bgw.track_hits;
SELECT acdat.contains('ushers', 'hits');
SELECT count(*) FROM acdat.pattern_hits WHERE dictionary = 'hits';
SET acdat_bgw.track_hits = on;

-- one function after the other; each line begins anew
CREATE FUNCTION pg_temp.hits(statement text) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
	PERFORM acdat.stats_reset('hits');
	EXECUTE statement;
	RETURN (SELECT string_agg(pattern_id || ':' || hits, ' ' ORDER BY pattern_id)
		FROM acdat.pattern_hits WHERE dictionary = 'hits' AND database = current_database());
END $$;
SELECT pg_temp.hits(statement), statement FROM unnest(ARRAY[
	$$SELECT acdat.contains('ushers', 'hits')$$,
	$$SELECT acdat.contains('nothing', 'hits')$$,
	$$SELECT acdat.contains('ushers'::bytea, 'hits')$$,
	$$SELECT acdat.contains('ushers', 'hits', tags => '{b}')$$,
	$$SELECT acdat.count_matches('ushers', 'hits')$$,
	$$SELECT acdat.count_matches('ushers', 'hits', 'leftmost_longest')$$,
	$$SELECT acdat.count_matches('ushers', 'hits', tags => '{b}', policy => 'all_overlapping')$$,
	$$SELECT acdat.match_ids('he he he', 'hits')$$,
	$$SELECT acdat.first_match('ushers', 'hits')$$,
	$$SELECT count(*) FROM acdat.matches('ushers he', 'hits')$$,
	$$SELECT acdat.matches('ushers he', 'hits') LIMIT 2$$,
	$$SELECT acdat.replace('he or she or hers', 'hits')$$,
	$$SELECT acdat.redact('he or ushers', 'hits')$$,
	$$SELECT acdat.redact('he or she', 'hits', 'tag')$$,
	$$SELECT acdat.redact(ARRAY['he', NULL, 'nothing', 'she'], 'hits')$$,
	$$SELECT acdat.redact('{"a": ["he", "nothing", 1], "he": "she"}'::jsonb, 'hits')$$,
	$$SELECT acdat.redact('{"a": ["he", "nothing", 1], "he": "she"}'::json, 'hits')$$,
	$$SELECT acdat.contains(v, 'hits') FROM unnest('{she,it,he}'::text[]) v$$,
	$$SELECT acdat.count_matches(repeat('she he ', 1000), 'hits', 'leftmost_longest')$$,
	$$SELECT acdat.contains('she', (SELECT acdat.compile('she')))$$
	]) WITH ORDINALITY u(statement, n) ORDER BY n;

-- the most frequent come first; the same id in another dictionary is another pattern
SELECT acdat.publish('hits_2', ARRAY['it', 'that']);
SELECT acdat.stats_reset();
SELECT acdat.count_matches('it it it that', 'hits_2'), acdat.count_matches('she', 'hits');
SELECT dictionary, pattern_id, hits FROM acdat.pattern_hits;
SELECT pattern, hits FROM acdat.pattern_hits h JOIN hits_terms t ON t.id = h.pattern_id
WHERE dictionary = 'hits' ORDER BY pattern;

-- ids go on over versions and names, and with switching off; ROLLBACK takes nothing back
UPDATE hits_terms SET pattern = 'he!' WHERE id = 1;
SELECT acdat.republish('hits');
BEGIN;
SELECT acdat.count_matches('he! he', 'hits');
ROLLBACK;
SELECT acdat.rename_dictionary('hits', 'hits_3');
SET acdat_bgw.track_hits = off;
SELECT acdat.count_matches('he! he', 'hits_3');
SELECT pattern_id, hits FROM acdat.pattern_hits WHERE dictionary = 'hits_3' ORDER BY pattern_id;
SELECT dictionary, untracked_hits FROM acdat.stats WHERE dictionary LIKE 'hits%' ORDER BY 1;

-- others do not see them, and cannot switch counting on
SET ROLE regress_hits_owner;
SELECT acdat.publish('hits_owned', 'SELECT ''it'' AS pattern', reader => 'public');
SET acdat_bgw.track_hits = on;
RESET ROLE;
SET acdat_bgw.track_hits = on;
SELECT acdat.contains('it', 'hits_owned');
SET ROLE regress_hits_owner;
SELECT dictionary, pattern_id, hits FROM acdat.pattern_hits;
SET ROLE regress_hits;
SELECT acdat.contains('it', 'hits_owned');
SELECT dictionary, pattern_id, hits FROM acdat.pattern_hits;
RESET ROLE;
GRANT pg_read_all_stats TO regress_hits;
SET ROLE regress_hits;
SELECT dictionary, pattern_id, hits FROM acdat.pattern_hits ORDER BY 1, 2;
RESET ROLE;

-- beginning anew for one; dropping
SELECT acdat.stats_reset('hits_3');
SELECT DISTINCT dictionary FROM acdat.pattern_hits ORDER BY 1;
SELECT acdat.drop_dictionary(name) FROM unnest('{hits_2,hits_3,hits_owned}'::text[]) name;
SELECT * FROM acdat.pattern_hits;
SELECT acdat.publish('hits_2', ARRAY['it']);
SELECT * FROM acdat.pattern_hits;
SELECT acdat.drop_dictionary('hits_2');
RESET acdat_bgw.track_hits;
DROP TABLE hits_terms;
REVOKE ALL ON FUNCTION acdat.publish(text, text, text, text, text, text, text, boolean, boolean, integer)
	FROM regress_hits_owner;
DROP ROLE regress_hits, regress_hits_owner;
