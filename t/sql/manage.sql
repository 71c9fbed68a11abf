--
-- republish(), rollback(), rename_dictionary(), drop_dictionary(), patterns()
--
CREATE TABLE manage_term (pattern text);
INSERT INTO manage_term VALUES ('one');
SELECT acdat.publish('manage', 'TABLE manage_term', case_insensitive => 'ascii');

-- republish runs the stored query again
INSERT INTO manage_term VALUES ('two');
SELECT acdat.contains('TWO', 'manage');
SELECT acdat.republish('manage');
SELECT acdat.contains('TWO', 'manage');

-- with the search path it was published with, whatever the caller's
CREATE SCHEMA manage_s;
CREATE TABLE manage_s.manage_term (pattern text);
INSERT INTO manage_s.manage_term VALUES ('trap');
SET search_path = manage_s, public;
SELECT acdat.republish('manage');
SELECT acdat.contains('trap', 'manage'), acdat.contains('two', 'manage');
SHOW search_path;
RESET search_path;

-- it does not empty a dictionary
BEGIN;
DELETE FROM manage_term;
SAVEPOINT s;
SELECT acdat.republish('manage');
ROLLBACK TO s;
SELECT acdat.contains('two', 'manage');
ROLLBACK;
-- but one that is meant to be empty may stay so, and fill
CREATE TABLE manage_empty (pattern text);
SELECT acdat.publish('manage_e', 'TABLE manage_empty', allow_empty => true);
SELECT acdat.republish('manage_e');
INSERT INTO manage_empty VALUES ('x');
SELECT acdat.republish('manage_e');
SELECT acdat.contains('x', 'manage_e');
SELECT acdat.drop_dictionary('manage_e');
DROP TABLE manage_empty;

-- a query that fails now leaves the version there is
ALTER TABLE manage_term RENAME pattern TO word;
SELECT acdat.republish('manage');
SELECT acdat.contains('two', 'manage');
ALTER TABLE manage_term RENAME word TO pattern;

-- an array cannot be run again
SELECT acdat.publish('manage_a', ARRAY['x']);
SELECT acdat.republish('manage_a');

-- rollback: the content and the options of a kept version, under a new number
SELECT version, current, patterns, case_insensitive, source
FROM acdat.versions WHERE name = 'manage' ORDER BY version;
SELECT acdat.publish('manage', ARRAY['three'], case_insensitive => 'none', boundary => 'word');
SELECT acdat.contains('THREE', 'manage'), acdat.contains('two', 'manage'),
	acdat.contains('three', 'manage');
SELECT acdat.rollback('manage', 3);
SELECT acdat.contains('three', 'manage'), acdat.contains('TWO', 'manage'),
	acdat.contains('twofold', 'manage');
SELECT version, current, patterns, case_insensitive, boundary, source
FROM acdat.versions WHERE name = 'manage' ORDER BY version;
-- its query came back with it
SELECT acdat.republish('manage');
-- back and forth; to the current one too
SELECT acdat.rollback('manage', 4);
SELECT acdat.contains('three', 'manage'), acdat.contains('two', 'manage');
SELECT acdat.rollback('manage', 7);
SELECT acdat.contains('three', 'manage'), version FROM acdat.dictionaries WHERE name = 'manage';
-- not to what is gone, was never there or will be
SELECT acdat.rollback('manage', 1);
SELECT acdat.rollback('manage', 0);
SELECT acdat.rollback('manage', -1);
SELECT acdat.rollback('manage', 9);
-- bytea patterns stay bytea patterns
SELECT acdat.publish('manage_b', $$SELECT '\xff00'::bytea AS pattern$$);
SELECT acdat.publish('manage_b', ARRAY['text']);
SELECT acdat.contains('\xff00'::bytea, 'manage_b'), acdat.contains('text', 'manage_b');
SELECT acdat.rollback('manage_b', 1);
SELECT acdat.contains('\xff00'::bytea, 'manage_b'), acdat.contains('text'::bytea, 'manage_b');
-- and attributes stay what they were
SELECT acdat.publish('manage_b', $$SELECT 'p' AS pattern, 5 AS id, 6 AS priority,
	'r' AS replacement, 't' AS tag UNION ALL SELECT 'pp', 7, 0, NULL, NULL$$);
SELECT acdat.publish('manage_b', ARRAY['q']);
SELECT acdat.rollback('manage_b', 4);
SELECT pattern, id, priority, replacement, tag, allow FROM acdat.patterns('manage_b') ORDER BY id;
SELECT acdat.replace('p', 'manage_b');

-- patterns of versions that are kept
SELECT pattern FROM acdat.patterns('manage_b', 5);
SELECT pattern FROM acdat.patterns('manage_b', 6) ORDER BY 1;
SELECT pattern FROM acdat.patterns('manage_b', version => NULL) ORDER BY 1;
SELECT pattern FROM acdat.patterns('manage_b', 1);
SELECT pattern FROM acdat.patterns('manage_no');
SELECT count(*) FROM acdat.patterns(NULL);

-- rename: the new name at once, the old one no more, nothing else changes
SELECT id AS before FROM acdat.dictionaries WHERE name = 'manage'
\gset
SELECT acdat.rename_dictionary('manage', 'manage_new');
SELECT acdat.contains('three', 'manage_new');
SELECT acdat.contains('three', 'manage');
SELECT name, version, id = :'before' AS same_id, state FROM acdat.dictionaries WHERE name LIKE 'manage%'
ORDER BY name;
SELECT acdat.rename_dictionary('manage', 'manage_x');
SELECT acdat.rename_dictionary('manage_new', 'manage_a');
SELECT acdat.rename_dictionary('manage_new', '');
SELECT acdat.rename_dictionary('manage_new', repeat('x', 64));
-- to the name it has
SELECT acdat.rename_dictionary('manage_new', 'manage_new');
-- the old name is free for another
SELECT acdat.publish('manage', ARRAY['fresh']);
SELECT acdat.contains('fresh', 'manage'), acdat.contains('fresh', 'manage_new');
-- two names exchanged in one transaction
BEGIN;
SELECT acdat.rename_dictionary('manage', 'manage_tmp');
SELECT acdat.rename_dictionary('manage_new', 'manage');
SELECT acdat.rename_dictionary('manage_tmp', 'manage_new');
SELECT acdat.contains('fresh', 'manage'), acdat.contains('fresh', 'manage_new');
COMMIT;
SELECT acdat.contains('fresh', 'manage'), acdat.contains('fresh', 'manage_new');
SELECT acdat.contains('fresh', 'manage_tmp');
-- a rename undone
BEGIN;
SELECT acdat.rename_dictionary('manage', 'manage_tmp');
SELECT acdat.contains('three', 'manage_tmp');
ROLLBACK;
SELECT acdat.contains('three', 'manage');
SELECT acdat.contains('three', 'manage_tmp');
-- renamed and published in one transaction
BEGIN;
SELECT acdat.rename_dictionary('manage', 'manage_tmp');
SELECT acdat.publish('manage_tmp', ARRAY['four']);
SELECT acdat.rename_dictionary('manage_tmp', 'manage');
COMMIT;
SELECT acdat.contains('three', 'manage'), acdat.contains('four', 'manage');

-- drop: with all versions
BEGIN;
SELECT acdat.drop_dictionary('manage');
SELECT acdat.contains('four', 'manage');
ROLLBACK;
SELECT acdat.contains('four', 'manage');
BEGIN;
SELECT acdat.drop_dictionary('manage');
SELECT acdat.publish('manage', ARRAY['five']);
SELECT acdat.contains('four', 'manage'), acdat.contains('five', 'manage');
ROLLBACK;
SELECT acdat.contains('four', 'manage'), acdat.contains('five', 'manage');
SELECT acdat.drop_dictionary('manage');
SELECT acdat.contains('four', 'manage');
SELECT acdat.drop_dictionary('manage');
SELECT count(*) FROM acdat.versions WHERE name = 'manage';
-- what comes after under the name begins at 1 and has no old options
SELECT acdat.publish('manage', ARRAY['six']);
SELECT version, case_insensitive, boundary, id = :'before' AS same_id
FROM acdat.dictionaries WHERE name = 'manage';
SELECT acdat.rollback('manage', 4);

-- NULL means nothing to do, but for publish
SELECT acdat.drop_dictionary(NULL), acdat.rename_dictionary(NULL, 'x'),
	acdat.rename_dictionary('manage', NULL), acdat.republish(NULL),
	acdat.rollback('manage', NULL), acdat.set_reader(NULL, 'public');
SELECT acdat.contains('six', 'manage');

SELECT acdat.drop_dictionary(name) FROM acdat.dictionaries
WHERE name IN ('manage', 'manage_a', 'manage_b', 'manage_new') ORDER BY name;
SELECT count(*) FROM acdat.dictionaries WHERE name LIKE 'manage%';
DROP TABLE manage_term;
DROP SCHEMA manage_s CASCADE;
