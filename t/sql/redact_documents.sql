--
-- redact() of arrays and documents
--
CREATE TEMP TABLE m AS
	SELECT acdat.compile(p) AS machine
	FROM unnest(ARRAY['secret', 'retire', 'Зоя', 'x"y', '😀']) p;

-- arrays: elements alone change, the form of the array does not
SELECT a, acdat.redact(a, machine) AS chars,
	acdat.redact(a, machine, 'fixed', '<,">') AS fixed
FROM m, (VALUES (1, '{}'::text[]), (2, '{a secret,NULL,"",secretire}'),
	(3, '{{Зоя,b},{c,secret}}'), (4, '[3:4]={secret,NULL}'), (5, '{sec,ret}')) v(n, a)
ORDER BY n;
SELECT pg_typeof(acdat.redact('{secret}'::varchar[], machine)),
	acdat.redact('{secret}'::varchar[], machine)
FROM m;

-- json: every byte stays but those of strings in which something matches
SELECT acdat.redact(j, machine) AS redacted
FROM m, (VALUES (1, '"a secret"'::json), (2, 'null'), (3, ' 17 '), (4, '{ }'),
	(5, '{"secret" : "secret",  "b":[1.0, 1e400,true , "x", "secretire" ],"secret":"Зоя" ,"n":{"secret":{"k":"a"}}}'),
	(6, E'[\n\t"\\u0041 secret \\u005C"\t,\n"\\u0041\\/"]'),
	(7, '["\u0073ecre\u0074", "x\"y", "\ud83d\ude00 \uD83D\uDE00"]'),
	(8, '["\u0000secret\ud800", "\udc00secret\ud800\u0073ecret", "sec\u0000ret"]'),
	(9, '["secret\b\f\n\r\t\u001f\"\\\/", "\b\f\n\r\t\u001f\"\\\/"]'),
	(10, '{"a\"secret\":":"secret:"}')) v(n, j)
ORDER BY n;
SELECT acdat.redact('["secret", 1]'::json, machine, 'fixed', E'"\\\n}') AS escaped
FROM m;

-- jsonb
SELECT acdat.redact(j, machine) AS redacted
FROM m, (VALUES (1, '"a secret"'::jsonb), (2, 'null'), (3, '17'), (4, '{}'), (5, '[]'),
	(6, '{"secret": "secret", "b": [1.0, 1.50, 12345678901234567890.0123456789, true, "x", "secretire", []], "n": {"secret": {"k": "Зоя"}}}'),
	(7, '["\u0073ecret", "x\"y", "\ud83d\ude00"]')) v(n, j)
ORDER BY n;
SELECT acdat.redact('["secret", 1]'::jsonb, machine, 'fixed', '"}') AS escaped,
	acdat.redact('{"k": "secret"}'::jsonb, machine, 'fixed', '') AS emptied
FROM m;

-- deep documents
WITH d AS (
	SELECT repeat('{"secret": [1, ', 1000) || '"a secret"' || repeat(']}', 1000) AS deep
)
SELECT acdat.redact(deep::json, machine)::text = replace(deep, 'a secret', 'a ******') AS json,
	acdat.redact(deep::jsonb, machine)
		= replace(deep, 'a secret', 'a ******')::jsonb AS jsonb
FROM d, m;

-- nothing matched: the very value, compressed as it is stored
CREATE TEMP TABLE documents (j json, b jsonb, a text[]);
INSERT INTO documents
SELECT d, d::jsonb, ARRAY[d::text]
FROM (SELECT json_agg(repeat('nothing ', 10) || n) FROM generate_series(1, 1000) n) v(d);
SELECT pg_column_size(j) < octet_length(j::text) AS is_compressed,
	pg_column_size(acdat.redact(j, machine)) = pg_column_size(j) AS json,
	pg_column_size(acdat.redact(b, machine)) = pg_column_size(b) AS jsonb,
	pg_column_size(acdat.redact(a, machine)) = pg_column_size(a) AS text_array
FROM documents, m;

-- the same with a dictionary
SELECT acdat.publish('documents_d', ARRAY['secret', 'retire']) AS version;
SELECT acdat.redact('{a secretire,b}'::text[], 'documents_d') AS text_array,
	acdat.redact('{"secret" : "secretire"}'::json, 'documents_d', 'fixed') AS json,
	acdat.redact('{"secret" : "secretire"}'::jsonb, 'documents_d', 'chars', '#') AS jsonb;
SELECT acdat.redact('{"secret" : "secretire"}'::jsonb, 'documents_nowhere');
SELECT acdat.drop_dictionary('documents_d');

-- NULL in, NULL out
SELECT acdat.redact(NULL::text[], machine) IS NULL AS text_array,
	acdat.redact(NULL::json, machine) IS NULL AS json,
	acdat.redact(NULL::jsonb, machine) IS NULL AS jsonb,
	acdat.redact('"secret"'::jsonb, NULL::acdat.machine) IS NULL AS machine
FROM m;

-- refusals; the limit on output is that of all strings together
SELECT acdat.redact('"secret"'::jsonb, machine, 'stars') FROM m;
SELECT acdat.redact('{secret}'::text[], machine, 'chars', '**') FROM m;
SET acdat_bgw.max_output_bytes = 35;
SELECT acdat.redact('{secret,secret,secret,secret}'::text[], machine, 'fixed') FROM m;
SELECT acdat.redact('["secret", "secret", "secret", "secret"]'::json, machine, 'fixed') FROM m;
SELECT acdat.redact('["secret", "secret", "secret", "secret"]'::jsonb, machine, 'fixed') FROM m;
SELECT acdat.redact('["secret", "secret", "secret", "secret"]'::jsonb, machine) FROM m;
RESET acdat_bgw.max_output_bytes;
DROP TABLE m, documents;
