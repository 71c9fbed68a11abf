--
-- create_redacted_view(): what is read is redacted
--
SELECT acdat.publish('viewed', $$SELECT * FROM (VALUES ('secret', 'kind'), ('Alice', 'name')) v(pattern, tag)$$, reader => 'public') AS version;
CREATE ROLE view_owner;
CREATE ROLE view_reader;
CREATE ROLE view_column_reader;
GRANT CREATE ON SCHEMA public TO view_owner;
CREATE TABLE public."Odd mails" (
	id integer PRIMARY KEY,
	gone text,
	body text,
	title varchar(12),
	tags text[],
	doc jsonb,
	raw json,
	bytes bytea,
	price numeric(6, 2)
);
ALTER TABLE public."Odd mails" DROP COLUMN gone;
ALTER TABLE public."Odd mails" OWNER TO view_owner;
INSERT INTO public."Odd mails" VALUES
	(1, 'a secret', 'for Alice', '{secret,b}', '{"secret": "Alice"}', '{"a" : "Alice"}', 'Alice', 1.5),
	(2, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
SET ROLE view_owner;
GRANT SELECT ON public."Odd mails" TO view_reader WITH GRANT OPTION;
GRANT SELECT (id, body), INSERT ON public."Odd mails" TO view_column_reader;
SELECT acdat.create_redacted_view('public."Odd mails"', 'viewed',
	ARRAY['body', 'title', 'tags', 'doc', 'raw', 'bytes']);
RESET ROLE;

-- columns, types and order are those of the table; so are owner and readers
SELECT a.attname, format_type(a.atttypid, a.atttypmod) AS type, v.attname IS NOT NULL AS same
FROM pg_attribute a
LEFT JOIN pg_attribute v ON v.attrelid = '"Odd mails_redacted"'::regclass
	AND v.attname = a.attname AND v.atttypid = a.atttypid AND v.atttypmod = a.atttypmod
WHERE a.attrelid = '"Odd mails"'::regclass AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum;
SELECT relowner::regrole FROM pg_class WHERE oid = '"Odd mails_redacted"'::regclass;
SELECT grantee::regrole, privilege_type, is_grantable
FROM pg_class, aclexplode(relacl)
WHERE oid = '"Odd mails_redacted"'::regclass AND grantee <> relowner ORDER BY 1, 2;
SELECT attname, attacl FROM pg_attribute
WHERE attrelid = '"Odd mails_redacted"'::regclass AND attacl IS NOT NULL ORDER BY 1;

-- a reader of the view alone
CREATE ROLE view_only;
GRANT SELECT ON "Odd mails_redacted" TO view_only;
SET ROLE view_only;
SET bytea_output = 'escape';
SELECT * FROM "Odd mails_redacted" ORDER BY id;
SELECT body FROM "Odd mails_redacted" WHERE body LIKE '%secret%';
SELECT body FROM "Odd mails";
RESET ROLE;
SET ROLE view_column_reader;
SELECT id, body FROM "Odd mails_redacted" ORDER BY id;
SELECT title FROM "Odd mails_redacted";
RESET ROLE;

-- again, in another style, after the table got a column
ALTER TABLE "Odd mails" ADD note text DEFAULT 'Alice';
SELECT acdat.create_redacted_view('"Odd mails"', 'viewed', ARRAY['body', 'title', 'tags', 'doc', 'raw', 'bytes', 'note'], 'tag');
SELECT body, title, note FROM "Odd mails_redacted" WHERE id = 1;
SELECT acdat.create_redacted_view('"Odd mails"', 'viewed', ARRAY['body'], mask => '#', view_name => 'it''s "mine"');
SELECT id, body, title FROM "it's ""mine""" ORDER BY id;

-- a partitioned table, a view
CREATE TABLE parted (id integer, body text) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (10);
INSERT INTO parted VALUES (1, 'a secret');
SELECT acdat.create_redacted_view('parted', 'viewed', '{body}');
SELECT acdat.create_redacted_view('parted_redacted', 'viewed', '{body}', 'fixed', view_name => 'twice');
SELECT * FROM parted_redacted, twice;

-- only some tags
SELECT acdat.publish('viewed_tags', $$SELECT * FROM (VALUES ('Alice', 'name'), ('4929', 'it''s')) v(pattern, tag)$$) AS version;
CREATE TABLE tag_rows AS SELECT 'Alice 4929'::text AS body;
SELECT acdat.create_redacted_view('tag_rows', 'viewed_tags', '{body}', 'tag', tags => ARRAY['it''s']);
SELECT * FROM tag_rows_redacted;
SELECT acdat.create_redacted_view('tag_rows', 'viewed_tags', '{body}', tags => '{other}', view_name => 'other');
DROP VIEW tag_rows_redacted;
DROP TABLE tag_rows;
SELECT acdat.drop_dictionary('viewed_tags');

-- what is refused
SELECT acdat.create_redacted_view(NULL, 'viewed', '{body}');
SELECT acdat.create_redacted_view('parted', NULL, '{body}');
SELECT acdat.create_redacted_view('parted', 'viewed', NULL);
SELECT acdat.create_redacted_view('parted', 'viewed', '{}');
SELECT acdat.create_redacted_view('parted', 'viewed', '{NULL}');
SELECT acdat.create_redacted_view('parted', 'viewed', '{nobody}');
SELECT acdat.create_redacted_view('parted', 'viewed', '{id}');
SELECT acdat.create_redacted_view('parted', 'no such', '{body}');
SELECT acdat.create_redacted_view('parted', 'viewed', '{body}', 'no such');
SELECT acdat.create_redacted_view('parted', 'viewed', '{body}', 'chars', 'too long');
SELECT acdat.create_redacted_view('parted', 'viewed', '{body}', view_name => '');
SELECT acdat.create_redacted_view('parted', 'viewed', '{body}', view_name => 'parted');
SET ROLE view_only;
SELECT acdat.create_redacted_view('parted', 'viewed', '{body}');
RESET ROLE;
ALTER TABLE parted ENABLE ROW LEVEL SECURITY;
SELECT acdat.create_redacted_view('parted', 'viewed', '{body}');

DROP VIEW twice, parted_redacted, "Odd mails_redacted", "it's ""mine""";
DROP TABLE "Odd mails", parted;
SELECT acdat.drop_dictionary('viewed');
REVOKE CREATE ON SCHEMA public FROM view_owner;
DROP ROLE view_owner, view_reader, view_column_reader, view_only;
