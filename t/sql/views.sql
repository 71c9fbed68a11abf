--
-- The views: what they show to whom, without pids, sizes and times
--
CREATE ROLE regress_views;
SELECT acdat.publish('views', $$SELECT 'hidden word' AS pattern UNION ALL SELECT 'other'$$,
	case_insensitive => 'ascii', ignore => '-', keep_versions => 2);
SELECT acdat.publish('views_array', ARRAY['hidden word'], reader => 'public');

-- columns and their types
SELECT table_name, string_agg(column_name || ' ' || data_type, ', ' ORDER BY ordinal_position) AS columns
FROM information_schema.columns
WHERE table_schema = 'acdat' AND table_name IN ('dictionaries', 'versions', 'generations', 'worker')
GROUP BY table_name ORDER BY table_name;
-- each with a comment
SELECT c.relname FROM pg_class c
WHERE c.relnamespace = 'acdat'::regnamespace AND c.relkind IN ('v', 'r')
	AND obj_description(c.oid, 'pg_class') IS NULL;

SELECT name, owner = current_user AS mine, reader, cluster, version, patterns, pattern_bytes,
	case_insensitive, normalization, boundary, ignore, keep_versions, state,
	bytes > 0 AS has_bytes, published_at <= now() AS has_time
FROM acdat.dictionaries WHERE name LIKE 'views%' ORDER BY name \gx

SELECT acdat.publish('views', ARRAY['x', 'yy'], case_insensitive => 'none');
SELECT name, version, current, publisher = current_user AS mine, published_at <= now() AS has_time,
	patterns, pattern_bytes, case_insensitive, normalization, boundary, ignore, encoding, source
FROM acdat.versions WHERE name LIKE 'views%' ORDER BY name, version \gx

-- generations: the live one of each, with its machine
SELECT dictionary, database = current_database() AS here, version, revision, cluster, patterns,
	bytes > 0 AS has_bytes, segment IS NOT NULL AS has_segment, error
FROM acdat.generations
WHERE dictionary LIKE 'views%' AND state = 'live' ORDER BY dictionary;
SELECT d.name, g.dictionary_id = d.id AS same_id, g.bytes = d.bytes AS same_bytes
FROM acdat.dictionaries d JOIN acdat.generations g ON g.dictionary_id = d.id
WHERE d.name LIKE 'views%' AND g.state = 'live' ORDER BY d.name;
-- who scans maps it
SELECT acdat.contains('x', 'views_array');
SELECT mapped_by > 0 AS mapped FROM acdat.generations WHERE dictionary = 'views_array' AND state = 'live';

-- within a transaction: pending, with its id, beside what all others use
BEGIN;
SELECT acdat.publish('views', ARRAY['z']);
SELECT version, state, coalesce(xid = pg_current_xact_id()::xid, false) AS mine FROM acdat.generations
WHERE dictionary = 'views' AND version > 1 AND state <> 'aborted' ORDER BY version;
SELECT version, state FROM acdat.dictionaries WHERE name = 'views';
ROLLBACK;
SELECT version, state FROM acdat.dictionaries WHERE name = 'views';

-- one launcher, running
SELECT kind, pid > 0 AS has_pid, database, state, since <= now() AS has_time, error
FROM acdat.worker WHERE kind = 'launcher';

-- everybody may look; queries are for owners, patterns in no view at all
SET ROLE regress_views;
SELECT name, version, patterns, state FROM acdat.dictionaries WHERE name LIKE 'views%' ORDER BY name;
SELECT name, version, source FROM acdat.versions WHERE name LIKE 'views%' ORDER BY name, version;
SELECT count(*) > 0 AS some FROM acdat.generations;
SELECT count(*) FROM acdat.worker WHERE kind = 'launcher';
SELECT concat((SELECT string_agg(d::text, '') FROM acdat.dictionaries d),
	(SELECT string_agg(v::text, '') FROM acdat.versions v),
	(SELECT string_agg(g::text, '') FROM acdat.generations g),
	(SELECT string_agg(w::text, '') FROM acdat.worker w)) ~ 'hidden' AS shown;
RESET ROLE;

-- a rollback to a version is one more version; a drop leaves nothing
SELECT acdat.rollback('views', 1);
SELECT version, current, source FROM acdat.versions WHERE name = 'views' ORDER BY version;
SELECT acdat.drop_dictionary(name) FROM unnest('{views,views_array}'::text[]) name;
SELECT count(*) FROM acdat.dictionaries WHERE name LIKE 'views%';
SELECT count(*) FROM acdat.versions WHERE name LIKE 'views%';
SELECT count(*) FROM acdat.generations WHERE dictionary LIKE 'views%' AND state = 'live';
DROP ROLE regress_views;
