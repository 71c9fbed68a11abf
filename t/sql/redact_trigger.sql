--
-- redact_trigger(): what is stored has been redacted
--
SELECT acdat.publish('written', ARRAY['secret', 'Alice'], reader => 'public') AS version;
CREATE TABLE posts (
	id integer PRIMARY KEY,
	body text,
	title varchar(10),
	tags text[],
	doc jsonb,
	raw_doc json,
	bytes bytea,
	note text,
	upper_body text GENERATED ALWAYS AS (upper(body)) STORED
);
CREATE TRIGGER redact BEFORE INSERT OR UPDATE ON posts
	FOR EACH ROW EXECUTE FUNCTION
	acdat.redact_trigger('written', 'body', 'title', 'tags', 'doc', 'raw_doc', 'bytes');
SET bytea_output = 'escape';
\pset null (null)

INSERT INTO posts VALUES
	(1, 'a secret', 'Alice Mill', '{secret,b}', '{"secret": "Alice"}', '{"a" : "Alice", "n":1.0}', 'a secret', 'a secret'),
	(2, 'nothing', 'nothing', '{nothing}', '"nothing"', '"nothing"', 'nothing', 'nothing'),
	(3, NULL, NULL, NULL, NULL, NULL, NULL, 'secret');
INSERT INTO posts (id, body) VALUES (2, 'secret 2')
	ON CONFLICT (id) DO UPDATE SET body = EXCLUDED.body || ', Alice';
COPY posts (id, body, title) FROM stdin;
4	Alice	secret
\.
SELECT * FROM posts ORDER BY id;
UPDATE posts SET body = body || ' secret', note = 'Alice' WHERE id IN (2, 3, 4);
UPDATE posts SET doc = '["Alice"]', bytes = 'Alice' WHERE id = 3;
SELECT id, body, upper_body, title, doc, bytes, note FROM posts ORDER BY id;

-- partitions, and values stored out of line
CREATE TABLE parts (id integer, body text) PARTITION BY RANGE (id);
CREATE TABLE parts_1 (body text, id integer);
ALTER TABLE parts ATTACH PARTITION parts_1 FOR VALUES FROM (0) TO (10);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (10) TO (20);
CREATE TRIGGER redact BEFORE INSERT OR UPDATE ON parts
	FOR EACH ROW EXECUTE FUNCTION acdat.redact_trigger('written', 'body');
ALTER TABLE parts_1 ALTER body SET STORAGE EXTERNAL;
INSERT INTO parts VALUES (1, repeat('.', 10000) || 'secret'), (11, 'Alice');
UPDATE parts SET id = 2 WHERE id = 1;
UPDATE parts SET body = body || 'Alice';
SELECT tableoid::regclass AS part, id, right(body, 12) AS body, length(body)
FROM parts ORDER BY id;

-- within a transaction a new version counts at once
BEGIN;
SELECT acdat.publish('written', ARRAY['other']) AS version;
INSERT INTO parts VALUES (12, 'secret other') RETURNING body;
ROLLBACK;
INSERT INTO parts VALUES (12, 'secret other') RETURNING body;

-- no dictionary, no right: no row
CREATE ROLE regress_acdat_writer;
GRANT INSERT, SELECT ON posts TO regress_acdat_writer;
SELECT acdat.set_reader('written', NULL);
SET ROLE regress_acdat_writer;
INSERT INTO posts (id, body) VALUES (10, 'a secret');
RESET ROLE;
SELECT acdat.set_reader('written', 'public');
SET ROLE regress_acdat_writer;
INSERT INTO posts (id, body) VALUES (11, 'a secret') RETURNING body;
RESET ROLE;
SELECT acdat.drop_dictionary('written');
INSERT INTO posts (id, body) VALUES (12, 'a secret');
SELECT id, body FROM posts WHERE id >= 10 ORDER BY id;

-- mistakes
CREATE FUNCTION try_trigger(timing text, arguments text, statement text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	state text;
	message text;
	hint text;
BEGIN
	EXECUTE format('CREATE TABLE tried (id integer, body text, number integer, fixed char(9), '
		'letters text GENERATED ALWAYS AS (body) STORED); INSERT INTO tried VALUES (1);'
		'CREATE TRIGGER mistake %s EXECUTE FUNCTION acdat.redact_trigger(%s)',
		timing, arguments);
	EXECUTE statement;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT,
		hint = PG_EXCEPTION_HINT;
	RETURN concat_ws(' / ', state, message, nullif(hint, ''));
END
$$;
SELECT acdat.publish('written', ARRAY['secret']) AS version;
SELECT n, try_trigger(timing, arguments, statement)
FROM (VALUES
	(1, 'BEFORE INSERT ON tried FOR EACH ROW', '''written'', ''absent''', 'INSERT INTO tried VALUES (1)'),
	(2, 'BEFORE INSERT ON tried FOR EACH ROW', '''written'', ''ctid''', 'INSERT INTO tried VALUES (1)'),
	(3, 'BEFORE INSERT ON tried FOR EACH ROW', '''written'', ''body'', ''number''', 'INSERT INTO tried VALUES (1)'),
	(4, 'BEFORE INSERT ON tried FOR EACH ROW', '''written'', ''fixed''', 'INSERT INTO tried VALUES (1)'),
	(5, 'BEFORE INSERT ON tried FOR EACH ROW', '''written'', ''letters''', 'INSERT INTO tried VALUES (1)'),
	(6, 'BEFORE INSERT ON tried FOR EACH ROW', '''written''', 'INSERT INTO tried VALUES (1)'),
	(7, 'BEFORE INSERT ON tried FOR EACH ROW', '', 'INSERT INTO tried VALUES (1)'),
	(8, 'AFTER INSERT ON tried FOR EACH ROW', '''written'', ''body''', 'INSERT INTO tried VALUES (1)'),
	(9, 'BEFORE INSERT ON tried FOR EACH STATEMENT', '''written'', ''body''', 'INSERT INTO tried VALUES (1)'),
	(10, 'BEFORE DELETE ON tried FOR EACH ROW', '''written'', ''body''', 'DELETE FROM tried'),
	(11, 'BEFORE TRUNCATE ON tried', '''written'', ''body''', 'TRUNCATE tried'),
	(12, 'BEFORE INSERT ON tried FOR EACH ROW', '''nowhere'', ''body''', 'INSERT INTO tried VALUES (1, ''secret'')'),
	(13, 'BEFORE INSERT OR UPDATE ON tried FOR EACH ROW', '''written'', ''body'', ''body''', 'INSERT INTO tried VALUES (1, ''secret'')')
) v(n, timing, arguments, statement)
ORDER BY n;
SELECT acdat.redact_trigger();

-- styles, masks and tags
SELECT acdat.publish('written', $$SELECT * FROM (VALUES ('secret', 'Word'), ('Alice', 'name')) v(pattern, tag)$$) AS version;
CREATE TABLE styled (name text, fixed text, tag text, many text[]);
CREATE TRIGGER a BEFORE INSERT ON styled FOR EACH ROW
	EXECUTE FUNCTION acdat.redact_trigger('written', 'name', 'mask=#');
CREATE TRIGGER b BEFORE INSERT ON styled FOR EACH ROW
	EXECUTE FUNCTION acdat.redact_trigger('written', 'style=fixed', 'mask=', 'fixed');
CREATE TRIGGER c BEFORE INSERT ON styled FOR EACH ROW
	EXECUTE FUNCTION acdat.redact_trigger('written', 'tag', 'style=tag');
CREATE TRIGGER d BEFORE INSERT ON styled FOR EACH ROW
	EXECUTE FUNCTION acdat.redact_trigger('written', 'tags=Word', 'many');
INSERT INTO styled SELECT t, t, t, ARRAY[t] FROM (VALUES ('a secret'), ('Alice')) v(t) RETURNING *;
DROP TABLE styled, tried;
SELECT n, try_trigger('BEFORE INSERT ON tried FOR EACH ROW', arguments, $$INSERT INTO tried VALUES (1, 'secret')$$)
FROM (VALUES (1, $$'written', 'body', 'style=none'$$), (2, $$'written', 'body', 'mask=long'$$),
	(3, $$'written', 'style=tag'$$), (4, $$'written', 'body', 'tags=word'$$), (5, $$'written', 'body', 'tags='$$),
	(6, $$'written', 'body', 'Style=tag'$$), (7, $$'written', 'body', 'tags=Word,name'$$)) v(n, arguments)
ORDER BY n;
SELECT acdat.drop_dictionary('written');
DROP TABLE posts, parts;
DROP FUNCTION try_trigger(text, text, text);
DROP ROLE regress_acdat_writer;
