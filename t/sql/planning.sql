--
-- What the planner expects of the scanning functions
--
CREATE FUNCTION pg_temp.estimate(query text, node text) RETURNS numeric LANGUAGE plpgsql AS
$$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
	RETURN jsonb_path_query_first(plan::jsonb,
		('strict $.**?(@."Node Type" == "' || node || '")."Plan Rows"')::jsonpath)::numeric;
END
$$;
CREATE FUNCTION pg_temp.cost(query text) RETURNS numeric LANGUAGE plpgsql AS
$$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
	RETURN plan->0->'Plan'->>'Total Cost';
END
$$;

CREATE TEMP TABLE narrow AS SELECT i, 'some text' AS t FROM generate_series(1, 1000) i;
CREATE TEMP TABLE wide AS SELECT i, repeat(md5(i::text), 40) AS t FROM generate_series(1, 1000) i;
ANALYZE narrow;
ANALYZE wide;
SELECT acdat.compile('needle')::text AS machine
\gset
SET max_parallel_workers_per_gather = 0;

-- contains() is expected to be seldom true
SELECT pg_temp.estimate(format('SELECT FROM narrow WHERE acdat.contains(t, %L::acdat.machine)', :'machine'), 'Seq Scan') AS rows;

-- wide values are expected to have more matches, and to cost more
SELECT pg_temp.estimate(format('SELECT FROM acdat.matches(%L, %L::acdat.machine)', 'short', :'machine'), 'Function Scan') AS few,
	pg_temp.estimate(format('SELECT FROM acdat.matches(%L, %L::acdat.machine)', repeat('x', 996), :'machine'), 'Function Scan') AS more;
SELECT pg_temp.cost(format('SELECT acdat.contains(t, %L::acdat.machine) FROM wide', :'machine'))
	- pg_temp.cost('SELECT t FROM wide')
	> 5 * (pg_temp.cost(format('SELECT acdat.contains(t, %L::acdat.machine) FROM narrow', :'machine'))
		- pg_temp.cost('SELECT t FROM narrow')) AS wide_costs_more;

-- so cheap conditions come first, however they are written
DO $$
DECLARE
	line text;
BEGIN
	FOR line IN EXPLAIN (COSTS OFF)
		SELECT FROM wide
		WHERE acdat.contains(t, (SELECT acdat.compile('x'::text))) AND i % 7 = 3
	LOOP
		IF line ~ 'Filter' THEN
			RAISE NOTICE 'cheap first: %', line ~ '% 7.*contains';
		END IF;
	END LOOP;
END
$$;

-- a machine constant may stand in a generated column, and an index on it is used
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET client_min_messages = warning;
DO $$
BEGIN
	EXECUTE format('CREATE TEMP TABLE flagged (i integer, t text,
		found boolean GENERATED ALWAYS AS (acdat.contains(t, %L::acdat.machine)) STORED)',
		(SELECT acdat.compile('needle'::text)));
END
$$;
RESET client_min_messages;
INSERT INTO flagged SELECT i, CASE WHEN i % 100 = 0 THEN 'a needle' ELSE 'hay' END
FROM generate_series(1, 1000) i;
CREATE INDEX flagged_found ON flagged (i) WHERE found;
ANALYZE flagged;
EXPLAIN (COSTS OFF) SELECT i FROM flagged WHERE found ORDER BY i;
SELECT count(*), min(i), max(i) FROM flagged WHERE found;
UPDATE flagged SET t = 'hay' WHERE i = 100;
SELECT count(*), min(i), max(i) FROM flagged WHERE found;

-- in a partial index, which the same condition uses and another machine's does not
DO $$
BEGIN
	EXECUTE format('CREATE INDEX flagged_partial ON flagged (i) WHERE acdat.contains(t, %L::acdat.machine)',
		(SELECT acdat.compile('needle'::text)));
END
$$;
DROP INDEX flagged_found;
CREATE FUNCTION pg_temp.uses(query text, kind text, name text) RETURNS boolean LANGUAGE plpgsql AS
$$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
	RETURN plan::text LIKE '%"' || kind || ' Name": "' || name || '"%';
END
$$;
SELECT word, pg_temp.uses(format('SELECT i FROM flagged WHERE acdat.contains(t, %L::acdat.machine) ORDER BY i',
	acdat.compile(word)), 'Index', 'flagged_partial')
FROM (VALUES ('needle'), ('hay')) v(word) GROUP BY word ORDER BY word;
SELECT count(*) FROM flagged WHERE acdat.contains(t, :'machine'::acdat.machine);
-- a name may not, for its dictionary changes
CREATE INDEX ON flagged (i) WHERE acdat.contains(t, 'name');
RESET enable_seqscan;
RESET enable_bitmapscan;

-- joins against many machines: scans filter what cheaper conditions join
CREATE TEMP TABLE rule AS
	SELECT n % 3 AS kind, 'rule ' || n AS name, acdat.compile('needle ' || n) AS machine
	FROM generate_series(1, 30) n GROUP BY n;
CREATE TEMP TABLE item AS
	SELECT i, i % 3 AS kind, 'a needle ' || i || ' here' AS t FROM generate_series(1, 90) i;
ANALYZE rule;
ANALYZE item;
EXPLAIN (COSTS OFF)
SELECT FROM item JOIN rule ON rule.kind = item.kind AND acdat.contains(item.t, rule.machine);
EXPLAIN (COSTS OFF) SELECT FROM item JOIN rule ON acdat.contains(item.t, rule.machine);
SELECT count(*), count(DISTINCT rule.name), count(DISTINCT item.i)
FROM item JOIN rule ON rule.kind = item.kind AND acdat.contains(item.t, rule.machine);
SELECT count(*), count(DISTINCT rule.name), count(DISTINCT item.i)
FROM item JOIN rule ON acdat.contains(item.t, rule.machine);
SELECT count(*) FROM rule
WHERE EXISTS (SELECT FROM item WHERE acdat.contains(item.t, rule.machine) AND item.i > 20);

-- partitions are pruned before anything is scanned
CREATE TEMP TABLE part (i integer, t text) PARTITION BY RANGE (i);
CREATE TEMP TABLE part_1 PARTITION OF part FOR VALUES FROM (1) TO (100);
CREATE TEMP TABLE part_2 PARTITION OF part FOR VALUES FROM (100) TO (200);
SELECT name, pg_temp.uses('SELECT FROM part WHERE i = 5 AND acdat.contains(t, (SELECT machine FROM rule LIMIT 1))',
	'Relation', name)
FROM (VALUES ('part_1'), ('part_2')) v(name) ORDER BY name;
RESET max_parallel_workers_per_gather;
DROP TABLE narrow, wide, flagged, rule, item, part;
