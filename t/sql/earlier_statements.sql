--
-- Statements that were written for the extension that kept its machine in a
-- table; they must run unchanged
--
CREATE TABLE bench_doc (line text);
INSERT INTO bench_doc VALUES ('ushers and his hens'), ('nothing to see'), (''),
	('hehe'), (NULL);
CREATE TABLE bench_pattern (id bigint, term text, priority integer, replacement text);
INSERT INTO bench_pattern VALUES (1, 'he', 0, 'HE'), (2, 'she', 0, ''),
	(3, 'his', 5, NULL), (4, 'hers', 0, 'theirs');
CREATE TABLE bench_machine AS
	SELECT acdat.compile(term, id, priority, replacement) AS machine
	FROM bench_pattern;

SELECT count(*) FILTER (WHERE acdat.contains(d.line, m.machine)) FROM bench_doc d CROSS JOIN bench_machine m;
SELECT sum(octet_length(acdat.replace(d.line, m.machine, 'leftmost_longest')) + 1) FROM bench_doc d CROSS JOIN bench_machine m;
SELECT count(*) FROM bench_doc d CROSS JOIN LATERAL acdat.matches(d.line, (SELECT machine FROM bench_machine), 'all_overlapping') h;

-- what the sums are made of
SELECT d.line, acdat.contains(d.line, m.machine) AS contains,
	acdat.replace(d.line, m.machine, 'leftmost_longest') AS replaced,
	(SELECT string_agg(h.pattern_id || '@' || h.byte_pos, ' ')
	 FROM acdat.matches(d.line, m.machine, 'all_overlapping') h) AS matches
FROM bench_doc d CROSS JOIN bench_machine m;

-- over many rows, against LIKE and the server's own replace()
TRUNCATE bench_doc;
INSERT INTO bench_doc
	SELECT CASE WHEN i % 7 = 0 THEN 'she ' ELSE 'xyz ' END || i
	FROM generate_series(1, 10000) i;
SELECT count(*) FILTER (WHERE acdat.contains(d.line, m.machine)) FROM bench_doc d CROSS JOIN bench_machine m;
SELECT count(*) FROM bench_doc WHERE line LIKE '%she%';
SELECT sum(octet_length(acdat.replace(d.line, m.machine, 'leftmost_longest')) + 1) FROM bench_doc d CROSS JOIN bench_machine m;
SELECT sum(octet_length(replace(line, 'she', '')) + 1) FROM bench_doc;
-- both he and she
SELECT count(*) FROM bench_doc d CROSS JOIN LATERAL acdat.matches(d.line, (SELECT machine FROM bench_machine), 'all_overlapping') h;

DROP TABLE bench_doc, bench_pattern, bench_machine;
