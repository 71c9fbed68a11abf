--
-- redact() in style hash
--
SELECT acdat.publish('hashed', ARRAY['Alice', 'Alice Miller', 'Miller Bob',
	'The quick brown fox jumps over the lazy dog'], reader => 'public',
	case_insensitive => 'ascii') AS version;

-- no key, no hash
SELECT acdat.redact('nothing', 'hashed', 'hash');
SET acdat_bgw.hash_key = '';
SELECT acdat.redact('Alice', 'hashed', 'hash');

-- a test vector of HMAC-SHA-256
SET acdat_bgw.hash_key = 'key';
SELECT acdat.redact('"The quick brown fox jumps over the lazy dog"', 'hashed', 'hash') AS redacted;

-- the same for the same text, whatever holds it, and different for others
SELECT acdat.redact('Alice, Alice, alice', 'hashed', 'hash')
	~ '^(\[[0-9a-f]{16}\]), \1, \[[0-9a-f]{16}\]$' AS form,
	acdat.redact('Alice', 'hashed', 'hash') <> acdat.redact('alice', 'hashed', 'hash') AS differ,
	acdat.redact('Alice Miller Bob', 'hashed', 'hash') ~ '^\[[0-9a-f]{16}\]$' AS one;
SELECT bool_and(r = acdat.redact('Alice', 'hashed', 'hash')) AS same
FROM (VALUES ((acdat.redact('{Alice}'::text[], 'hashed', 'hash'))[1]),
	(acdat.redact('["Alice"]'::json, 'hashed', 'hash') ->> 0),
	(acdat.redact('["Alice"]'::jsonb, 'hashed', 'hash') ->> 0),
	(convert_from(acdat.redact('Alice'::bytea, 'hashed', 'hash'), 'UTF8'))) v(r);
CREATE TEMP TABLE earlier AS SELECT acdat.redact('Alice', 'hashed', 'hash') AS t;
SET acdat_bgw.hash_key = 'another key';
SELECT acdat.redact('Alice', 'hashed', 'hash') = t AS same FROM earlier;
\c -
SET acdat_bgw.hash_key = 'another key';
SELECT acdat.redact('nothing', 'hashed', 'hash') AS nothing;
SELECT count(DISTINCT acdat.redact(t, 'hashed', 'hash')) AS hashes
FROM (SELECT CASE n % 2 WHEN 0 THEN 'Alice' ELSE 'Alice Miller' END FROM generate_series(1, 1000) n) v(t);

-- refusals
SELECT acdat.redact('Alice', 'hashed', 'hash', '*');
SELECT acdat.redact('Alice', acdat.compile('Alice'), 'hash');

-- the key is for superusers
CREATE ROLE regress_acdat_hasher;
CREATE FUNCTION pg_temp.try(statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE statement;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE;
END
$$;
SET ROLE regress_acdat_hasher;
SELECT acdat.redact('Alice', 'hashed', 'hash') ~ '^\[[0-9a-f]{16}\]$' AS form;
SELECT s, pg_temp.try(s)
FROM (VALUES ('SHOW acdat_bgw.hash_key'), ('SET acdat_bgw.hash_key = ''mine'''),
	('SELECT current_setting(''acdat_bgw.hash_key'')'),
	('SELECT set_config(''acdat_bgw.hash_key'', '''', true)')) v(s);
RESET ROLE;
SELECT count(*) AS listed FROM pg_settings WHERE name = 'acdat_bgw.hash_key';
SELECT acdat.drop_dictionary('hashed');
DROP ROLE regress_acdat_hasher;
