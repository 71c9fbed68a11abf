--
-- redact() in style tag
--
CREATE TABLE tagged (pattern text, tag text, priority integer, id bigint);
INSERT INTO tagged VALUES
	('Alice', 'name', 0, 1), ('Alice Miller', 'full name', 0, 2), ('Miller', 'surname', 9, 3),
	('4929', 'Card', 0, 4), ('ler 4', NULL, 0, 5), ('secret', NULL, 0, 6), ('empty', '', 0, 7),
	('Зоя', 'имя', 0, 8), ('quote', 'a"\b', 0, 9);
SELECT acdat.publish('tagged', 'SELECT * FROM tagged ORDER BY id') AS version;

-- the tag of the pattern that is the longest at the start of what is hidden
SELECT t, acdat.redact(t, 'tagged', 'tag') AS redacted
FROM (VALUES (1, 'Ask Alice.'), (2, 'Ask Alice Miller!'), (3, 'Miller Alice'),
	(4, 'Miller 4929'), (5, 'Alice Miller 4929 4929'), (6, 'a secret'), (7, 'empty'),
	(8, 'AliceAlice'), (9, 'nothing'), (10, '')) v(n, t)
ORDER BY n;
SELECT acdat.redact('Зоя', 'tagged', 'tag') = '[' || upper('имя') || ']' AS other_letters;

-- whatever holds text
SELECT acdat.redact('{Ask Alice,NULL,4929}'::text[], 'tagged', 'tag') AS text_array,
	acdat.redact('{"Alice" : "Alice", "n": 4929, "q": "quote"}'::json, 'tagged', 'tag') AS json,
	acdat.redact('{"Alice": "Alice", "n": 4929, "q": "quote"}'::jsonb, 'tagged', 'tag') AS jsonb;
SET bytea_output = 'escape';
SELECT acdat.redact('Ask Alice'::bytea, 'tagged', 'tag') AS ascii,
	convert_from(acdat.redact(convert_to('Зоя', 'UTF8'), 'tagged', 'tag'), 'UTF8') AS other;

-- machine values have no tags
SELECT acdat.redact('Alice', acdat.compile('Alice'), 'tag') AS redacted;

-- long values
SELECT acdat.redact(repeat('Alice nothing ', 100000), 'tagged', 'tag')
	= repeat('[NAME] nothing ', 100000) AS same;

-- nothing matched: the very value
CREATE TEMP TABLE long_values AS SELECT repeat('nothing ', 10000) AS t;
SELECT pg_column_size(t) < length(t) AS is_compressed,
	pg_column_size(acdat.redact(t, 'tagged', 'tag')) = pg_column_size(t) AS same
FROM long_values;

-- refusals
SELECT acdat.redact('Alice', 'tagged', 'tag', '*');
SELECT acdat.redact('Alice', 'tagged', 'TAG');
SET acdat_bgw.max_output_bytes = 10;
SELECT acdat.redact('Alice ___4', 'tagged', 'tag');
SELECT acdat.redact('Alice ___', 'tagged', 'tag');
SELECT acdat.redact('AliceAlice', 'tagged', 'tag');
RESET acdat_bgw.max_output_bytes;
SELECT acdat.drop_dictionary('tagged');
DROP TABLE tagged, long_values;

-- style keep_last: the last characters stay, at most half of them
SELECT acdat.publish('last', ARRAY['4929123456789012', 'Alice', 'x', 'né', 'né', '👩‍👩‍👧👍🏽ab'], ignore => ' -', reader => 'public') AS version;
SELECT s AS style, acdat.redact('card 4929 1234 5678 9012, Alice, x', 'last', s)
FROM unnest(ARRAY['keep_last', 'keep_last 1', 'keep_last 2', 'keep_last 1000']) s;
SELECT acdat.redact('4929-1234-5678-9012', 'last', 'keep_last', '#'), acdat.redact('4929123456789012', 'last', 'keep_last 2', '㊙');
SELECT acdat.redact('né né 👩‍👩‍👧👍🏽ab', 'last', 'keep_last 3');
SELECT acdat.redact('AliceAlice', 'last', 'keep_last');
SELECT acdat.redact('\x416c69636500416c696365'::bytea, acdat.compile('\x696365004100'::bytea), 'keep_last');
SELECT acdat.redact('\x416c6963650041'::bytea, acdat.compile('\x69636500'::bytea), 'keep_last');
SELECT acdat.redact('{"card": "4929123456789012", "a": ["Alice"]}'::jsonb, 'last', 'keep_last'), acdat.redact(ARRAY['Alice', NULL], 'last', 'keep_last');
SELECT acdat.redact('x', 'last', 'keep_last 0');
SELECT acdat.redact('x', 'last', 'keep_last 1001');
SELECT acdat.redact('x', 'last', 'keep_last four');
SELECT acdat.redact('x', 'last', 'keep_last4');
SELECT acdat.redact('x', 'last', 'keep_last', 'xx');
SELECT acdat.drop_dictionary('last');
