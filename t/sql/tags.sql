--
-- Scanning for patterns with certain tags only
--
CREATE TABLE tag_rules (pattern text, id bigint, priority integer, replacement text, tag text, allow boolean);
INSERT INTO tag_rules VALUES
	('Alice', 1, 0, '<1>', 'name', false),
	('Alice Miller', 2, 0, '<2>', 'full', false),
	('Ali', 3, 9, '<3>', 'short', false),
	('4929', 4, 0, '<4>', 'card', false),
	('secret', 5, 0, '<5>', NULL, false),
	('Alice', 6, 5, '<6>', 'card', false),
	('Miller & Co', 7, 0, NULL, 'name', true),
	('Miller', 8, 0, '<8>', 'name', false);
SELECT acdat.publish('tag_rules', 'SELECT * FROM tag_rules') AS version;

-- the pattern must have one of the tags
SELECT t, acdat.contains(t, 'tag_rules') AS any, acdat.contains(t, 'tag_rules', '{name}') AS name,
	acdat.contains(t, 'tag_rules', '{card}') AS card, acdat.contains(t, 'tag_rules', '{name,card}') AS both,
	acdat.contains(t, 'tag_rules', tags => ARRAY['short']) AS short
FROM (VALUES (1, 'Ask Alice'), (2, 'Ali'), (3, 'card 4929'), (4, 'a secret'), (5, 'Miller & Co'), (6, 'Miller'), (7, '')) v(n, t)
ORDER BY n;

-- the policy chooses among them only
SELECT policy, tags, acdat.match_ids('Alice Miller 4929 secret', 'tag_rules', tags, policy) AS ids,
	acdat.count_matches('Alice Miller 4929 secret', 'tag_rules', tags, policy) AS count,
	(acdat.first_match('Alice Miller 4929 secret', 'tag_rules', tags, policy)).pattern_id AS first
FROM unnest('{all_overlapping,leftmost_longest,leftmost_first}'::text[]) WITH ORDINALITY p(policy, n),
	(VALUES (1, '{name}'::text[]), (2, '{card}'), (3, '{full,card}'), (4, '{short,name,full}')) t(m, tags)
ORDER BY n, m;
SELECT m.pattern_id, m.tag, m.char_pos, m.char_len
FROM acdat.matches('Ali, Alice Miller', 'tag_rules', ARRAY['short', 'name']) m;
SELECT tags, acdat.replace('Alice Miller 4929', 'tag_rules', tags) AS longest,
	acdat.replace('Alice Miller 4929', 'tag_rules', tags, 'leftmost_first') AS first
FROM (VALUES (1, '{name}'::text[]), (2, '{card}'), (3, '{full}'), (4, '{short,full}')) t(n, tags) ORDER BY n;
SELECT tags, acdat.redact('Alice Miller 4929', 'tag_rules', tags) AS chars,
	acdat.redact('Alice Miller 4929', 'tag_rules', tags, 'tag') AS tag,
	acdat.redact('Alice Miller 4929', 'tag_rules', tags, mask => '#') AS mask
FROM (VALUES (1, '{name}'::text[]), (2, '{card}'), (3, '{full}'), (4, '{short}')) t(n, tags) ORDER BY n;

-- exceptions stay in force, whatever their tag
SELECT acdat.redact('Miller & Co, Miller', 'tag_rules', '{name}'::text[]) AS name,
	acdat.match_ids('Miller & Co', 'tag_rules', '{name,full,card,short}'::text[]) AS none;

-- whatever holds text
SELECT acdat.redact('{Alice,4929}'::text[], 'tag_rules', ARRAY['name']) AS text_array,
	acdat.redact('{"Alice": ["Alice", 4929, "4929"]}'::json, 'tag_rules', ARRAY['card']) AS json,
	acdat.redact('{"Alice": ["Alice", 4929, "4929"]}'::jsonb, 'tag_rules', ARRAY['name']) AS jsonb;
SET bytea_output = 'escape';
SELECT acdat.redact('Alice 4929'::bytea, 'tag_rules', ARRAY['full', 'card']) AS bytes,
	acdat.contains('Alice'::bytea, 'tag_rules', ARRAY['full']) AS contains;

-- machine values, too
CREATE TABLE tag_machine AS SELECT acdat.import_machine(acdat.export('tag_rules')) AS machine;
SELECT acdat.match_ids('Alice Miller 4929', machine, '{name}'::text[]) AS ids,
	acdat.redact('Alice Miller 4929', machine, '{card}'::text[]) AS redacted FROM tag_machine;

-- one call site, other tags and other versions
SELECT t, acdat.match_ids('Alice Miller', 'tag_rules', t) AS ids FROM unnest(ARRAY['name', 'full', 'card']) u(x), LATERAL (SELECT ARRAY[x] AS t) v;
PREPARE by_name AS SELECT acdat.match_ids('Bob Alice', 'tag_rules', ARRAY['name']) AS ids;
EXECUTE by_name;
INSERT INTO tag_rules VALUES ('Bob', 9, 0, NULL, 'name', false), ('x', 10, 0, NULL, 'aaa', false);
SELECT acdat.republish('tag_rules') AS version;
EXECUTE by_name;

-- a scan for all is not restricted by the one before
SELECT acdat.match_ids('Alice', 'tag_rules', '{name}'::text[]) AS name, acdat.match_ids('Alice', 'tag_rules') AS "all";

-- nulls
SELECT acdat.contains('Alice', 'tag_rules', NULL) IS NULL AS contains, acdat.redact('Alice', 'tag_rules', NULL::text[]) IS NULL AS redact;

-- what cannot be asked for
SELECT acdat.contains('Alice', 'tag_rules', '{nmae}');
\echo :LAST_ERROR_SQLSTATE
SELECT acdat.redact('Alice', 'tag_rules', '{name,nmae}'::text[]);
\echo :LAST_ERROR_SQLSTATE
SELECT acdat.contains('Alice', 'tag_rules', '{}');
\echo :LAST_ERROR_SQLSTATE
SELECT acdat.contains('Alice', 'tag_rules', '{name,NULL}');
\echo :LAST_ERROR_SQLSTATE
SELECT acdat.contains('Alice', acdat.compile('Alice'), '{name}');
\echo :LAST_ERROR_SQLSTATE
