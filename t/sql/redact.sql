--
-- redact() with machine values
--
CREATE TEMP TABLE m AS
	SELECT acdat.compile(p) AS machine
	FROM unnest('{secret,retire,Зоя,👨‍👩‍👦,é}'::text[]) p;

-- unaligned, since psql of different versions differ in how wide an emoji is
\a
SELECT t, acdat.redact(t, machine) AS chars,
	acdat.redact(t, machine, 'fixed') AS fixed
FROM m, (VALUES (1, 'a secret.'), (2, 'secretire'), (3, 'secretsecret'),
	(4, 'nothing'), (5, ''), (6, 'Зоя 👨‍👩‍👦!'), (7, 'café')) v(n, t)
ORDER BY n;
\a

-- masks
SELECT acdat.redact('a secret.', machine, 'chars', '█') AS block,
	acdat.redact('a secret.', machine, 'chars', 'x') AS x,
	acdat.redact('a secret.', machine, 'chars', 'e' || U&'\0301') AS with_a_mark,
	acdat.redact('a secret.', machine, 'fixed', '') AS deleted,
	acdat.redact('a secret.', machine, 'fixed', '<gone>') AS gone,
	acdat.redact('a secret.', machine, mask => '#') AS named,
	acdat.redact('a secret.', machine, NULL, NULL) AS defaults
FROM m;

-- everything a pattern matches is hidden, whatever the replacements say
SELECT acdat.redact('xabcdy', acdat.compile(p, 1::bigint, 0, r))
FROM (VALUES ('ab', 'ab'), ('bc', NULL), ('cd', 'cd')) v(p, r);
SELECT count(*) AS leaks
FROM m, generate_series(4080, 4100) n
WHERE acdat.contains(acdat.redact(repeat('.', n) || 'secretiresecret', machine), machine)
	OR acdat.redact(repeat('.', n) || 'secretiresecret', machine)
		<> repeat('.', n) || repeat('*', 15);

-- NULL in, NULL out
SELECT acdat.redact(NULL::text, machine) IS NULL,
	acdat.redact('secret', NULL::acdat.machine) IS NULL
FROM m;

-- refusals
SELECT acdat.redact('a secret.', machine, 'stars') FROM m;
SELECT acdat.redact('a secret.', machine, '') FROM m;
SELECT acdat.redact('a secret.', machine, 'chars', '') FROM m;
SELECT acdat.redact('a secret.', machine, 'chars', '**') FROM m;
SET acdat_bgw.max_output_bytes = '1kB';
SELECT acdat.redact(repeat('é', 2000), machine, 'fixed') FROM m;
RESET acdat_bgw.max_output_bytes;
DROP TABLE m;
