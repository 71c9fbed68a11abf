--
-- contains(), count_matches(), match_ids() with machine values
--
CREATE TEMP TABLE m AS
	SELECT acdat.compile(p, i::bigint) AS machine
	FROM (VALUES ('he', 1), ('she', 2), ('his', 3), ('hers', 4)) v(p, i);

SELECT t, acdat.contains(t, machine), acdat.count_matches(t, machine),
	acdat.count_matches(t, machine, 'leftmost_longest') AS longest,
	acdat.match_ids(t, machine),
	acdat.match_ids(t, machine, 'leftmost_first') AS first_ids
FROM m, (VALUES (1, 'ushers'), (2, 'his hers'), (3, 'nothing'), (4, ''),
	(5, 'HE'), (6, 'h'), (7, 'hehehe')) v(n, t)
ORDER BY n;

-- NULL in, NULL out
SELECT acdat.contains(NULL::text, machine) IS NULL,
	acdat.contains('he', NULL::acdat.machine) IS NULL,
	acdat.count_matches('he', machine, NULL) IS NULL,
	acdat.match_ids(NULL::text, machine) IS NULL
FROM m;

-- a match at every place of texts of every length around a block
SELECT count(*) AS wrong
FROM m, generate_series(0, 130) len, generate_series(0, 130) pos
WHERE acdat.count_matches(repeat('.', pos) || 'she' || repeat('.', len), machine,
	'leftmost_longest') <> 1;
SELECT count(*) AS wrong
FROM m, generate_series(4090, 4100) len,
	LATERAL (SELECT repeat('.', len) || 'hers') v(t)
WHERE NOT acdat.contains(t, machine)
	OR acdat.match_ids(t, machine) <> '{1,4}'
	OR acdat.contains(left(t, len + 1), machine);

-- large values, compressed and out of line
CREATE TEMP TABLE big AS
	SELECT i, repeat('abcdefghij', 100000) || CASE WHEN i = 2 THEN 'she' ELSE '' END AS t
	FROM generate_series(2, 3) i;
INSERT INTO big SELECT 4, string_agg(md5(i::text), ' ') || ' his'
	FROM generate_series(1, 20000) i;
SELECT i, acdat.contains(t, machine), acdat.count_matches(t, machine)
FROM m, big ORDER BY i;

-- ids are distinct and ascend, however many matches there are
SELECT acdat.match_ids(repeat('a', 10000), acdat.compile(repeat('a', 60 - i), i::bigint))
	= array_agg(i::bigint ORDER BY i)
FROM generate_series(1, 59) i;

-- in parallel plans and as an index
CREATE TABLE contains_doc (id int, line text);
INSERT INTO contains_doc
	SELECT i, CASE WHEN i % 10 = 0 THEN 'one of his ' ELSE 'nothing of it ' END || i
	FROM generate_series(1, 20000) i;
CREATE TABLE contains_machine AS SELECT * FROM m;
ANALYZE contains_doc;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
DO $$
DECLARE
	line text;
BEGIN
	FOR line IN EXPLAIN (COSTS OFF)
		SELECT count(*) FROM contains_doc
		WHERE acdat.contains(line, (SELECT machine FROM contains_machine))
	LOOP
		IF line ~ 'Parallel Seq Scan on contains_doc' THEN
			RAISE NOTICE 'parallel';
		END IF;
	END LOOP;
END
$$;
SELECT count(*) FROM contains_doc
WHERE acdat.contains(line, (SELECT machine FROM contains_machine));
SELECT count(*) FILTER (WHERE acdat.contains(d.line, m.machine))
FROM contains_doc d CROSS JOIN contains_machine m;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET max_parallel_workers_per_gather;

-- one machine in a constraint, a generated column and an index
SELECT machine::text AS hex FROM m
\gset
CREATE TABLE contains_checked (
	t text CHECK (NOT acdat.contains(t, :'hex'::acdat.machine)),
	clean text GENERATED ALWAYS AS (acdat.redact(t, :'hex'::acdat.machine)) STORED);
CREATE INDEX ON contains_checked (acdat.count_matches(t, :'hex'::acdat.machine));
INSERT INTO contains_checked VALUES ('nothing');
\set VERBOSITY sqlstate
INSERT INTO contains_checked VALUES ('his');
\set VERBOSITY default
TABLE contains_checked;

-- every function says what it is
SELECT p.proname, pg_get_function_identity_arguments(p.oid) AS arguments,
	p.provolatile, p.proparallel, p.proisstrict
FROM pg_proc p
WHERE p.pronamespace = 'acdat'::regnamespace
	AND p.proname IN ('contains', 'count_matches', 'match_ids', 'first_match',
		'matches', 'replace', 'redact')
ORDER BY p.proname, pg_get_function_identity_arguments(p.oid) COLLATE "C";
SELECT p.oid::regprocedure AS without_comment
FROM pg_proc p
WHERE p.pronamespace = 'acdat'::regnamespace
	AND p.proname IN ('contains', 'count_matches', 'match_ids', 'first_match',
		'matches', 'replace', 'redact', 'compile', 'machine_info')
	AND obj_description(p.oid, 'pg_proc') IS NULL;

DROP TABLE m, big, contains_doc, contains_machine, contains_checked;
