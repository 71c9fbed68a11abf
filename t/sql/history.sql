--
-- publish_if_changed(), preview(), diff(), export(), import_machine()
--
CREATE TABLE words (pattern text, id bigint, tag text);
INSERT INTO words VALUES ('alpha', 1, 'greek'), ('beta', 2, 'greek'), ('gamma', 3, NULL);

-- only what differs makes a version
SELECT acdat.publish_if_changed('kept', 'SELECT * FROM words ORDER BY id', reader => 'public') AS version;
SELECT acdat.publish_if_changed('kept', 'SELECT * FROM words ORDER BY id') AS version;
SELECT acdat.publish_if_changed('kept', 'SELECT * FROM words ORDER BY id', reader => 'public', case_insensitive => 'none') AS version;
ALTER TABLE words ADD sort integer;
UPDATE words SET sort = -id;
SELECT acdat.publish_if_changed('ordered', 'SELECT pattern, id, tag FROM words ORDER BY sort') AS version;
UPDATE words SET sort = id;
SELECT acdat.publish_if_changed('ordered', 'SELECT pattern, id, tag FROM words ORDER BY sort') AS version;
UPDATE words SET id = 4 - id;
SELECT acdat.publish_if_changed('ordered', 'SELECT pattern, id, tag FROM words ORDER BY sort') AS version;
SELECT acdat.drop_dictionary('ordered');
UPDATE words SET id = 4 - id;
ALTER TABLE words DROP sort;
UPDATE words SET tag = 'letter' WHERE id = 2;
SELECT acdat.publish_if_changed('kept', 'SELECT * FROM words ORDER BY id') AS version;
SELECT acdat.publish_if_changed('kept', 'SELECT * FROM words ORDER BY id', case_insensitive => 'ascii') AS version;
SELECT acdat.publish_if_changed('kept', 'SELECT * FROM words ORDER BY id', ignore => '-') AS version;
SELECT acdat.publish_if_changed('kept', 'SELECT * FROM words ORDER BY id', keep_versions => 10) AS version;
SELECT acdat.publish_if_changed('kept', 'SELECT * FROM words WHERE true ORDER BY id') AS version;
SELECT acdat.publish_if_changed('listed', ARRAY['x', 'y']) AS version;
SELECT acdat.publish_if_changed('listed', ARRAY['x', 'y']) AS version;
SELECT acdat.publish_if_changed('listed', ARRAY['y', 'x']) AS version;
SELECT acdat.publish_if_changed('listed', ARRAY[]::text[]);
SELECT acdat.publish_if_changed(NULL, ARRAY['x']);
SELECT acdat.publish_if_changed('listed', NULL::text);

-- what a list would change, before it is published
CREATE TABLE posts (id integer, "the body" text);
INSERT INTO posts VALUES (1, 'Alpha and delta'), (2, 'beta, GAMMA'), (3, 'delta'), (4, 'nothing'), (5, NULL);
INSERT INTO words VALUES ('delta', 4, NULL), ('lta', 5, NULL);
DELETE FROM words WHERE pattern = 'gamma';
SELECT * FROM acdat.preview('kept', 'SELECT * FROM words ORDER BY id', 'posts', 'the body');
SELECT * FROM acdat.preview('kept', 'SELECT * FROM words ORDER BY id', 'posts', 'the body', 1);
SELECT * FROM acdat.preview('unheard', 'SELECT * FROM words ORDER BY id', 'posts', 'the body');
SELECT name, version FROM acdat.dictionaries WHERE name IN ('kept', 'unheard');
SELECT acdat.match_ids('alpha delta gamma', 'kept');
CREATE FUNCTION raises() RETURNS text LANGUAGE plpgsql AS $$BEGIN RAISE SQLSTATE 'ACDAT'; END$$;
SELECT acdat.preview('kept', 'SELECT raises() AS pattern', 'posts', 'the body');
DROP FUNCTION raises();
SELECT acdat.preview('kept', NULL, 'posts', 'the body');
SELECT acdat.preview('kept', 'SELECT 1', 'posts', 'the body');
SELECT acdat.preview('kept', 'SELECT * FROM words', 'posts', 'no column');

-- what two versions differ in
SELECT acdat.publish('kept', 'SELECT * FROM words ORDER BY id') AS version;
SELECT change, pattern, id_1, id_2, tag_1, tag_2 FROM acdat.diff('kept', 6);
SELECT change, pattern, id_1, id_2, tag_1, tag_2 FROM acdat.diff('kept', 5, 6);
SELECT change, pattern, id_1, id_2 FROM acdat.diff('listed', 1, 2);
SELECT acdat.publish('twice', $$VALUES (1)$$);
SELECT acdat.publish('twice', $$SELECT * FROM (VALUES ('a', 1, true), ('a', 2, false)) v(pattern, id, allow)$$) AS version;
SELECT acdat.publish('twice', $$SELECT * FROM (VALUES ('a', 2, false), ('b', 3, false)) v(pattern, id, allow)$$) AS version;
SELECT change, pattern, id_1, id_2, allow_1, allow_2 FROM acdat.diff('twice', 1, 2);
SELECT acdat.diff('kept', 99);

-- the machine as bytes, and back
SELECT acdat.match_ids('ALPHA b-eta', acdat.import_machine(acdat.export('kept')));
SELECT acdat.export('kept') = acdat.machine_send(acdat.import_machine(acdat.export('kept'))) AS same;
SELECT patterns, case_insensitive, ignore FROM acdat.machine_info(acdat.import_machine(acdat.export('kept')));
SELECT acdat.export('unheard');
SELECT acdat.import_machine('');
SELECT acdat.import_machine('\x00');
SELECT acdat.import_machine(substr(acdat.export('kept'), 1, 100));
SELECT acdat.import_machine(acdat.export('kept') || '\x00');

-- for owners only
CREATE ROLE history_reader;
GRANT SELECT ON posts, words TO history_reader;
SET ROLE history_reader;
SELECT acdat.contains('alpha', 'kept');
SELECT acdat.publish_if_changed('kept', ARRAY['x']);
SELECT acdat.diff('kept', 5, 6);
SELECT acdat.export('kept');
SELECT acdat.preview('kept', 'SELECT * FROM words', 'posts', 'the body');
RESET ROLE;
DROP TABLE words, posts;
DROP ROLE history_reader;
SELECT acdat.drop_dictionary(name) FROM unnest(ARRAY['kept', 'listed', 'twice']) name;
