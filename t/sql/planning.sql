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
RESET max_parallel_workers_per_gather;
DROP TABLE narrow, wide;
