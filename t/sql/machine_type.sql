--
-- acdat.machine: a compiled dictionary as a value
--
CREATE TEMP TABLE m AS
	SELECT acdat.compile(p, i) AS machine
	FROM (VALUES ('he', 1), ('she', 2), ('his', 3), ('hers', 4)) v(p, i);

-- what a machine says of itself; sizes differ between layouts, so only
-- whether they make sense is shown
SELECT i.patterns, i.allow_patterns, i.max_pattern_bytes,
	i.case_insensitive, i.normalization, i.boundary, i.ignore, i.encoding,
	i.states > i.patterns AS has_states,
	i.bytes = octet_length(acdat.machine_send(machine)) AS bytes_are_right,
	i.checksum ~ '^[0-9a-f]{32}$' AS has_checksum
FROM m, acdat.machine_info(machine) i;

-- text form and back
SELECT acdat.contains('ushers', machine::text::acdat.machine) AS through_text,
	machine::text ~ '^\\x([0-9a-f]{2})+$' AS is_hex
FROM m;

-- binary form and back: COPY
CREATE TEMP TABLE m2 (machine acdat.machine);
\copy m TO 'machine_type.tmp' (FORMAT binary)
\copy m2 FROM 'machine_type.tmp' (FORMAT binary)
\! rm -f machine_type.tmp
SELECT m.machine::text = m2.machine::text AS same_bytes,
	acdat.match_ids('ushers', m2.machine) AS ids
FROM m, m2;

-- the same patterns make the same machine, whatever their order
SELECT count(DISTINCT (acdat.machine_info(machine)).checksum) AS contents
FROM (SELECT acdat.compile(p, i ORDER BY i) AS machine
	  FROM (VALUES ('he', 1), ('she', 2)) v(p, i)
	  UNION ALL
	  SELECT acdat.compile(p, i ORDER BY i DESC)
	  FROM (VALUES ('he', 1), ('she', 2)) v(p, i)) x;

-- bytes that are no machine are refused, whichever one is damaged
SELECT '\x'::acdat.machine;
SELECT '\x00112233'::acdat.machine;
SELECT 'not hex'::acdat.machine;
DO $$
DECLARE
	good bytea;
	bad bytea;
	refused integer := 0;
	tried integer := 0;
BEGIN
	SELECT acdat.machine_send(machine) INTO good FROM m;
	FOR i IN 0 .. octet_length(good) - 1 LOOP
		bad := set_byte(good, i, get_byte(good, i) # 1);
		tried := tried + 1;
		BEGIN
			PERFORM bad::text::acdat.machine;
		EXCEPTION WHEN invalid_binary_representation THEN
			refused := refused + 1;
		END;
	END LOOP;
	IF refused <> tried THEN
		RAISE EXCEPTION '% of % damaged machines were let in',
			tried - refused, tried;
	END IF;
	FOR i IN 1 .. 16 LOOP
		BEGIN
			PERFORM substr(good, 1, octet_length(good) - i)::text::acdat.machine;
			RAISE EXCEPTION 'a machine cut by % bytes was let in', i;
		EXCEPTION WHEN invalid_binary_representation THEN
			NULL;
		END;
	END LOOP;
	BEGIN
		PERFORM (good || '\x00'::bytea)::text::acdat.machine;
		RAISE EXCEPTION 'a machine with a trailing byte was let in';
	EXCEPTION WHEN invalid_binary_representation THEN
		NULL;
	END;
END
$$;

-- those of another layout version, too, and with what to do about it
SELECT set_byte(acdat.machine_send(machine), 8, 1)::text::acdat.machine FROM m;
BEGIN;
CREATE CAST (bytea AS acdat.machine) WITHOUT FUNCTION;
CREATE TEMP TABLE kept AS
	SELECT set_byte(acdat.machine_send(acdat.compile(w)), 8, 1)::acdat.machine AS machine
	FROM (VALUES ('never scanned with')) v(w);
SELECT acdat.contains('she', machine) FROM kept;
ROLLBACK;

-- values live in every place a value can: inline, out of line, compressed,
-- as a variable, as a row of a materialized query
CREATE TEMP TABLE places (place text, machine acdat.machine);
INSERT INTO places SELECT 'inline', machine FROM m;
INSERT INTO places
	SELECT 'out of line', acdat.compile(md5(i::text), i::bigint)
	FROM generate_series(1, 500) i;
ALTER TABLE places ALTER machine SET STORAGE main;
INSERT INTO places
	SELECT 'compressed', acdat.compile('word' || i, i::bigint)
	FROM generate_series(1, 500) i;
SELECT place, acdat.contains(t, machine)
FROM places, (VALUES ('ushers'), (md5('77')), ('a word77 b')) v(t)
ORDER BY 1, t;
WITH x AS MATERIALIZED (SELECT machine FROM places WHERE place = 'out of line')
SELECT count(*) FROM generate_series(1, 1000) i, x
WHERE acdat.contains(md5(i::text), x.machine);
DO $$
DECLARE
	v acdat.machine;
	n integer := 0;
BEGIN
	SELECT machine INTO v FROM places WHERE place = 'out of line';
	FOR i IN 1 .. 1000 LOOP
		IF acdat.contains(md5(i::text), v) THEN
			n := n + 1;
		END IF;
	END LOOP;
	RAISE NOTICE '% found', n;
END
$$;
DO $$
DECLARE
	v acdat.machine;
	n integer := 0;
BEGIN
	FOR i IN 1 .. 100 LOOP
		IF i % 2 = 0 THEN
			SELECT machine INTO v FROM places WHERE place = 'out of line';
		ELSE
			SELECT machine INTO v FROM places WHERE place = 'compressed';
		END IF;
		IF acdat.contains(CASE i % 2 WHEN 0 THEN md5(i::text) ELSE 'word' || i END, v) THEN
			n := n + 1;
		END IF;
	END LOOP;
	RAISE NOTICE '% found', n;
END
$$;

-- more machines in turn than a process keeps
CREATE TEMP TABLE many AS
	SELECT g, acdat.compile(g || 'x' || i, i::bigint) AS machine
	FROM generate_series(1, 40) g, generate_series(1, 50) i
	GROUP BY g;
SELECT count(*) AS found, count(DISTINCT g) AS machines
FROM generate_series(1, 3) pass, many
WHERE acdat.contains('<' || g || 'x7>', machine)
	AND NOT acdat.contains('<' || g || 'y7>', machine);

-- a machine is no number: no operators, no implicit casts
-- servers word or place this differently
\set VERBOSITY sqlstate
SELECT machine = machine FROM m;
\set VERBOSITY default
DROP TABLE m, m2, places, many;
