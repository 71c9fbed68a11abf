--
-- Where scanning functions are called from: prepared statements, plpgsql,
-- views, triggers, COPY, DML, indexes and generated columns
--
SELECT acdat.publish('callers', ARRAY['one'], reader => 'public');
CREATE TABLE callers_doc (id integer, body text);
INSERT INTO callers_doc VALUES (1, 'one'), (2, 'two'), (3, 'one two'), (4, NULL);

-- a prepared statement follows publishes, with a custom and a generic plan
PREPARE callers_p(text) AS
	SELECT array_agg(id ORDER BY id) FROM callers_doc WHERE acdat.contains(body, $1);
SET plan_cache_mode = force_custom_plan;
EXECUTE callers_p('callers');
SELECT acdat.publish('callers', ARRAY['two']);
EXECUTE callers_p('callers');
SET plan_cache_mode = force_generic_plan;
EXECUTE callers_p('callers');
SELECT acdat.publish('callers', ARRAY['one']);
EXECUTE callers_p('callers');
SELECT acdat.drop_dictionary('callers');
EXECUTE callers_p('callers');
SELECT acdat.publish('callers', ARRAY['two'], reader => 'public');
EXECUTE callers_p('callers');
EXECUTE callers_p(NULL);
RESET plan_cache_mode;
DEALLOCATE callers_p;

-- the name may come from a row: several dictionaries through one call site
SELECT acdat.publish('callers_2', ARRAY['o']);
SELECT d, id, acdat.contains(body, d) AS contains, acdat.match_ids(body, d) AS ids
FROM callers_doc, unnest('{callers,callers_2,callers}'::text[]) WITH ORDINALITY u(d, n)
WHERE id < 4 ORDER BY id, n;

-- plpgsql: expressions see what their own function published
CREATE FUNCTION callers_loop() RETURNS text LANGUAGE plpgsql AS
$$
DECLARE
	seen text := '';
	found boolean;
BEGIN
	FOR i IN 1 .. 5 LOOP
		PERFORM acdat.publish('callers', ARRAY['word' || i]);
		found := acdat.contains('word' || i, 'callers');
		seen := seen || CASE WHEN found THEN 'new' ELSE 'OLD' END || ' ';
		found := acdat.contains('word' || i - 1, 'callers');
		seen := seen || CASE WHEN found THEN 'STALE' ELSE 'gone' END || ' ';
	END LOOP;
	BEGIN
		PERFORM acdat.publish('callers', ARRAY['undone']);
		IF NOT acdat.contains('undone', 'callers') THEN
			seen := seen || 'MISSING ';
		END IF;
		RAISE division_by_zero;
	EXCEPTION WHEN division_by_zero THEN
		seen := seen || CASE WHEN acdat.contains('word5', 'callers')
			AND NOT acdat.contains('undone', 'callers') THEN 'undone' ELSE 'NOT UNDONE' END;
	END;
	RETURN seen;
END
$$;
SELECT callers_loop();
SELECT acdat.contains('word5', 'callers');
-- a stable function keeps to the snapshot of its statement
CREATE FUNCTION callers_stable(t text) RETURNS boolean STABLE LANGUAGE plpgsql AS
$$
BEGIN
	RETURN acdat.contains(t, 'callers');
END
$$;
SELECT acdat.publish('callers', ARRAY['six']) > 0 AS published, callers_stable('six') AS six,
	callers_stable('word5') AS word5;
SELECT callers_stable('six') AS six, callers_stable('word5') AS word5;
-- transactions within a procedure
CREATE PROCEDURE callers_transactions() LANGUAGE plpgsql AS
$$
BEGIN
	PERFORM acdat.publish('callers', ARRAY['committed']);
	COMMIT;
	RAISE NOTICE 'committed: %', acdat.contains('committed', 'callers');
	PERFORM acdat.publish('callers', ARRAY['rolled back']);
	RAISE NOTICE 'before: %', acdat.contains('rolled back', 'callers');
	ROLLBACK;
	RAISE NOTICE 'after: %', acdat.contains('rolled back', 'callers');
END
$$;
CALL callers_transactions();
-- a cursor keeps the version it was opened with
BEGIN;
SELECT acdat.publish('callers', ARRAY['one']);
DECLARE callers_c CURSOR FOR SELECT id FROM callers_doc WHERE acdat.contains(body, 'callers') ORDER BY id;
DECLARE callers_m CURSOR FOR SELECT (acdat.matches('one two one', 'callers')).byte_pos;
FETCH callers_c;
FETCH callers_m;
SELECT acdat.publish('callers', ARRAY['two']);
SELECT id FROM callers_doc WHERE acdat.contains(body, 'callers') ORDER BY id;
FETCH ALL callers_c;
FETCH ALL callers_m;
COMMIT;

-- SQL functions, inlined or not
CREATE FUNCTION callers_inline(text) RETURNS boolean STABLE LANGUAGE sql AS $$ SELECT acdat.contains($1, 'callers') $$;
EXPLAIN (COSTS OFF) SELECT id FROM callers_doc WHERE callers_inline(body);
SELECT id FROM callers_doc WHERE callers_inline(body) ORDER BY id;

-- views, and what depends on them
CREATE VIEW callers_clean AS
	SELECT id, acdat.redact(body, 'callers') AS body FROM callers_doc;
CREATE MATERIALIZED VIEW callers_kept AS TABLE callers_clean;
TABLE callers_clean;
SELECT acdat.publish('callers', ARRAY['one']);
TABLE callers_clean;
TABLE callers_kept;
REFRESH MATERIALIZED VIEW callers_kept;
TABLE callers_kept;

-- COPY out through a query, and in through a trigger
COPY (SELECT id, acdat.replace(body, 'callers_2'), acdat.redact(body, 'callers', 'fixed')
	FROM callers_doc ORDER BY id) TO STDOUT;
CREATE FUNCTION callers_trigger() RETURNS trigger LANGUAGE plpgsql AS
$$
BEGIN
	NEW.body := acdat.redact(NEW.body, 'callers');
	RETURN NEW;
END
$$;
CREATE TRIGGER clean BEFORE INSERT OR UPDATE ON callers_doc
	FOR EACH ROW EXECUTE FUNCTION callers_trigger();
COPY callers_doc FROM STDIN;
5	one is one
6	two
\.
INSERT INTO callers_doc VALUES (7, 'done');
UPDATE callers_doc SET body = body || ' none' WHERE id = 6;
SELECT * FROM callers_doc WHERE id > 4 ORDER BY id;
DROP TRIGGER clean ON callers_doc;

-- DML with matches in FROM, and row by row
CREATE TABLE callers_hit AS
	SELECT d.id, h.pattern_id, h.byte_pos FROM callers_doc d, acdat.matches(d.body, 'callers_2') h;
SELECT * FROM callers_hit ORDER BY id, byte_pos;
DELETE FROM callers_doc d USING callers_hit h WHERE d.id = h.id AND NOT acdat.contains(d.body, 'callers');
SELECT id FROM callers_doc ORDER BY id;

-- a domain and a check constraint may use it; what they let in is not looked at again
CREATE DOMAIN callers_word AS text CHECK (NOT acdat.contains(VALUE, 'callers'));
SELECT 'two'::callers_word;
SELECT 'one'::callers_word;

-- not where only an IMMUTABLE function may stand
CREATE TABLE callers_generated (body text,
	clean text GENERATED ALWAYS AS (acdat.redact(body, 'callers')) STORED);
CREATE TABLE callers_generated (body text,
	flag boolean GENERATED ALWAYS AS (acdat.contains(body, 'callers')) STORED);
-- servers word or place this differently
\set VERBOSITY sqlstate
CREATE INDEX ON callers_doc ((acdat.contains(body, 'callers')));
\set VERBOSITY default
CREATE INDEX ON callers_doc (id) WHERE acdat.contains(body, 'callers');
CREATE TABLE callers_part (body text) PARTITION BY LIST (acdat.contains(body, 'callers'));

-- constants are not folded away at plan time
EXPLAIN (COSTS OFF, VERBOSE) SELECT acdat.contains('one', 'callers');

-- sorting, grouping, windows, lateral and recursive queries
SELECT acdat.redact(body, 'callers_2') COLLATE "C" AS clean, count(*) FROM callers_doc GROUP BY 1 ORDER BY 1;
SELECT id, sum(acdat.count_matches(body, 'callers_2')) OVER (ORDER BY id) FROM callers_doc ORDER BY id;
WITH RECURSIVE r(t, n) AS (
	SELECT 'ooo', 0
	UNION ALL
	SELECT acdat.replace(t || 'x', 'callers_3'), n + 1 FROM r WHERE n < 3)
SELECT * FROM r;
SELECT acdat.publish('callers_3', $$SELECT 'x' AS pattern, 'yx' AS replacement$$);
WITH RECURSIVE r(t, n) AS (
	SELECT 'o', 0
	UNION ALL
	SELECT acdat.replace(t || 'x', 'callers_3'), n + 1 FROM r WHERE n < 3)
SELECT * FROM r;

SELECT acdat.drop_dictionary(name) FROM acdat.dictionaries WHERE name LIKE 'callers%' ORDER BY name;
DROP MATERIALIZED VIEW callers_kept;
DROP VIEW callers_clean;
DROP TABLE callers_doc, callers_hit;
DROP DOMAIN callers_word;
DROP FUNCTION callers_loop(), callers_stable(text), callers_inline(text), callers_trigger();
DROP PROCEDURE callers_transactions();
