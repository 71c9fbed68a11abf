--
-- acdat.publish(): from a query and from an array, with options
--
CREATE TABLE publish_term (id integer, term text, weight integer, sub text,
	kind text, ok boolean);
INSERT INTO publish_term VALUES
	(10, 'alpha', 1, 'A', 'greek', false),
	(20, 'beta', 2, NULL, 'greek', false),
	(30, 'alphabet', 3, '', NULL, NULL),
	(40, 'alpha centauri', NULL, NULL, 'star', true);

-- the first publish makes version 1, and is seen by the next statement
SELECT acdat.publish('publish_q', 'SELECT term AS pattern, id, weight AS priority,
	sub AS replacement, kind AS tag, ok AS allow FROM publish_term');
SELECT * FROM acdat.matches('alphabet beta', 'publish_q');
SELECT * FROM acdat.patterns('publish_q') ORDER BY id;

-- replacement: text, '' deletes, NULL keeps; allow: alpha centauri is no match
SELECT t, acdat.replace(t, 'publish_q') AS replaced, acdat.redact(t, 'publish_q') AS redacted
FROM unnest('{alpha,beta,alphabet,alpha centauri,alpha beta}'::text[]) t;

-- columns in another order, of other types, and ones that mean nothing here
SELECT acdat.publish('publish_q', $$
	SELECT true AS extra, 7::bigint AS id, 5::smallint AS priority,
		'gamma'::varchar(10) AS pattern, 'g'::name AS tag, 'other' AS "Pattern"$$);
SELECT pattern, id, priority, replacement, tag, allow FROM acdat.patterns('publish_q');
SELECT acdat.publish('publish_q', $$VALUES ('x')$$);
SELECT acdat.publish('publish_q', $$SELECT column1 AS pattern FROM (VALUES ('x'), ('y'), ('x y')) v$$);
SELECT pattern, id, priority, allow FROM acdat.patterns('publish_q') ORDER BY id;
SELECT acdat.publish('publish_q', $$WITH w AS (SELECT 'one' AS pattern) TABLE w$$);
SELECT acdat.publish('publish_q', $$TABLE publish_pattern$$);
CREATE DOMAIN publish_word AS text CHECK (VALUE <> 'no');
CREATE TABLE publish_pattern (pattern publish_word, id int2);
INSERT INTO publish_pattern VALUES ('dom', 3), ('ain', NULL);
SELECT acdat.publish('publish_q', $$TABLE publish_pattern$$);
SELECT pattern, id FROM acdat.patterns('publish_q') ORDER BY id;

-- blanks that only pad a column of type character are no part of a pattern
SELECT acdat.publish('publish_q', $$SELECT 'pad'::char(10) AS pattern, 'x'::char(3) AS replacement,
	't'::char(5) AS tag$$);
SELECT acdat.replace('<pad>', 'publish_q'), pattern_bytes, octet_length(replacement) AS replacement,
	octet_length(tag) AS tag
FROM acdat.patterns('publish_q');

-- from an array: ids are positions
SELECT acdat.publish('publish_a', ARRAY['he', 'she', 'his', 'hers']);
SELECT acdat.match_ids('ushers', 'publish_a');
SELECT acdat.publish('publish_a', '[5:6]={low,high}'::text[]);
SELECT acdat.match_ids('low high', 'publish_a');
SELECT acdat.publish('publish_a', '{{ab,cd},{ef,gh}}'::text[]);
SELECT acdat.match_ids('abcdefgh', 'publish_a');

-- options: given, kept, changed
SELECT acdat.publish('publish_o', ARRAY['Word', 'ｗｉｄｅ'], case_insensitive => 'unicode',
	normalization => 'width', boundary => 'word', ignore => '-_', reader => 'public',
	keep_versions => 2);
SELECT name, reader, cluster, version, patterns, pattern_bytes, case_insensitive,
	normalization, boundary, ignore, keep_versions
FROM acdat.dictionaries WHERE name = 'publish_o' \gx
SELECT acdat.publish('publish_o', ARRAY['other']);
SELECT version, patterns, reader, case_insensitive, normalization, boundary, ignore, keep_versions
FROM acdat.dictionaries WHERE name = 'publish_o' \gx
SELECT acdat.contains('an O-T-H_E_R one', 'publish_o'), acdat.contains('bOTHER', 'publish_o');
SELECT acdat.publish('publish_o', ARRAY['other'], case_insensitive => 'none', ignore => '');
SELECT version, patterns, reader, case_insensitive, normalization, boundary, ignore, keep_versions
FROM acdat.dictionaries WHERE name = 'publish_o' \gx
SELECT acdat.contains('an O-T-H_E_R one', 'publish_o'), acdat.contains('an other one', 'publish_o');

-- keep_versions: two are kept, and a smaller number prunes at the next publish
SELECT version, current FROM acdat.versions WHERE name = 'publish_o' ORDER BY version;
SELECT acdat.publish('publish_o', ARRAY['last'], keep_versions => 1);
SELECT version, current FROM acdat.versions WHERE name = 'publish_o' ORDER BY version;

-- defaults of a new one
SELECT owner = current_user AS mine, reader, cluster, version, patterns, pattern_bytes,
	case_insensitive, normalization, boundary, ignore, keep_versions
FROM acdat.dictionaries WHERE name = 'publish_a' \gx

-- duplicates: equal in all attributes are one; otherwise all stay and are told
SELECT acdat.publish('publish_d', $$
	SELECT column1 AS pattern, column2 AS id FROM (VALUES ('dup', 1), ('dup', 1), ('single', 2)) v$$);
SELECT acdat.count_matches('dup', 'publish_d');
SELECT acdat.publish('publish_d', $$
	SELECT column1 AS pattern, column2 AS id FROM (VALUES ('dup', 1), ('dup', 2), ('single', 3), ('dup', 4)) v$$);
SELECT acdat.match_ids('dup', 'publish_d');
SELECT acdat.publish('publish_d', $$
	SELECT column1 AS pattern, column2 AS tag FROM (VALUES ('dup', 'a'), ('dup', 'b')) v$$);
SELECT acdat.publish('publish_d', ARRAY['Case', 'CASE', 'case'], case_insensitive => 'ascii');
SELECT acdat.match_ids('cAsE', 'publish_d');

-- an empty one only when it is asked for, and every time
SELECT acdat.publish('publish_e', '{}'::text[], allow_empty => true);
SELECT acdat.contains('anything', 'publish_e'), acdat.redact('anything', 'publish_e');
SELECT acdat.publish('publish_e', $$SELECT 'x' AS pattern WHERE false$$, allow_empty => true);
SELECT count(*) FROM acdat.patterns('publish_e');
SELECT acdat.publish('publish_e', '{}'::text[]);

-- bytea patterns
SELECT acdat.publish('publish_b', $$
	SELECT '\x00ff'::bytea AS pattern, 1 AS id, '\xee'::bytea AS replacement
	UNION ALL SELECT 'text'::bytea, 2, '\x'$$);
SELECT acdat.replace('\x7400ff74657874'::bytea, 'publish_b');
SELECT pattern, pattern_bytes, id, replacement FROM acdat.patterns('publish_b') ORDER BY id;
SELECT acdat.contains('text', 'publish_b');

-- a transaction sees what it published, command by command
BEGIN;
SELECT acdat.contains('new', 'publish_t');
ROLLBACK;
BEGIN;
SELECT acdat.publish('publish_t', ARRAY['new']);
SELECT acdat.contains('new', 'publish_t');
SELECT acdat.publish('publish_t', ARRAY['newer']);
SELECT acdat.contains('new', 'publish_t'), acdat.contains('newer', 'publish_t');
SAVEPOINT s;
SELECT acdat.publish('publish_t', ARRAY['undone']);
SELECT acdat.contains('undone', 'publish_t');
ROLLBACK TO s;
SELECT acdat.contains('undone', 'publish_t'), acdat.contains('newer', 'publish_t');
SELECT acdat.publish('publish_t', ARRAY['newest']);
COMMIT;
SELECT acdat.contains('newest', 'publish_t'), version
FROM acdat.dictionaries WHERE name = 'publish_t';

-- two in one statement; in the same statement the scan is of the version before
SELECT acdat.publish('publish_t', ARRAY['v' || i]) FROM generate_series(1, 3) i;
SELECT v, acdat.contains(v, 'publish_t') FROM unnest('{v1,v2,v3}'::text[]) v;
SELECT acdat.publish('publish_t', ARRAY['after']) AS version,
	acdat.contains('v3', 'publish_t') AS before, acdat.contains('after', 'publish_t') AS after;
SELECT acdat.contains('v3', 'publish_t') AS before, acdat.contains('after', 'publish_t') AS after;

-- names are text: any case, blanks, quotes and letters, up to 63 bytes
SELECT acdat.publish(n, ARRAY['x']) FROM unnest(ARRAY['Publish N', 'publish"n''', 'publish ä', repeat('n', 63)]) n;
SELECT n, acdat.contains('x', n)
FROM unnest(ARRAY['Publish N', 'publish"n''', 'publish ä', repeat('n', 63)]) n;
SELECT acdat.contains('x', 'publish n');
SELECT acdat.drop_dictionary(n) FROM unnest(ARRAY['Publish N', 'publish"n''', 'publish ä', repeat('n', 63)]) n;

-- larger than what a single batch of rows or a page holds
SELECT acdat.publish('publish_l', $$SELECT md5(i::text) AS pattern, i AS id FROM generate_series(1, 20000) i$$);
SELECT patterns, pattern_bytes, state FROM acdat.dictionaries WHERE name = 'publish_l';
SELECT count(*) AS wrong FROM generate_series(1, 20000, 7) i
WHERE acdat.match_ids('<' || md5(i::text) || '>', 'publish_l') <> ARRAY[i::bigint];
SELECT count(*), sum(id), count(DISTINCT pattern) FROM acdat.patterns('publish_l');

SELECT acdat.drop_dictionary(name) FROM acdat.dictionaries
WHERE name LIKE 'publish\__' ORDER BY name;
SELECT count(*) FROM acdat.dictionaries WHERE name ILIKE 'publish%';
SELECT count(*) FROM acdat.versions WHERE name ILIKE 'publish%';
DROP TABLE publish_term, publish_pattern;
DROP DOMAIN publish_word;
