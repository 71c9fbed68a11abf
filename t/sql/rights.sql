--
-- Who may publish, scan, change and read the patterns
--
CREATE ROLE regress_owner;
CREATE ROLE regress_reader;
CREATE ROLE regress_member IN ROLE regress_reader;
CREATE ROLE regress_stranger NOINHERIT IN ROLE regress_reader;
CREATE ROLE regress_other;
CREATE ROLE regress_co_owner IN ROLE regress_owner;
CREATE TABLE rights_secret (pattern text);
INSERT INTO rights_secret VALUES ('classified');

CREATE FUNCTION rights_try(statement text, OUT state text, OUT message text,
	OUT hint text) LANGUAGE plpgsql AS
$$
BEGIN
	EXECUTE statement;
	message := 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT,
		hint = PG_EXCEPTION_HINT;
END
$$;

-- publish() is nobody's before it is granted
SET ROLE regress_owner;
SELECT acdat.publish('rights', ARRAY['word']);
RESET ROLE;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA acdat TO regress_owner, regress_other;

-- the query runs with the rights of the caller
SET ROLE regress_owner;
SELECT acdat.publish('rights', 'TABLE rights_secret');
SELECT acdat.publish('rights', ARRAY['word', 'secret']);
SELECT acdat.contains('a word', 'rights');
SELECT pattern FROM acdat.patterns('rights') ORDER BY 1;
-- the tables are not his, whatever he owns
SELECT * FROM acdat.dictionary_version;
UPDATE acdat.dictionary SET reader = 'public';
INSERT INTO acdat.dictionary (id, name, owner, version, revision) VALUES (gen_random_uuid(), 'x', 'x', 1, 1);
RESET ROLE;

-- owner only: scanning, and all else
CREATE FUNCTION rights_all(dictionary text) RETURNS TABLE (call text, state text, message text)
	LANGUAGE sql AS
$$
	SELECT c, t.state, t.message FROM unnest(ARRAY[
		'SELECT acdat.contains(''x'', %L)', 'SELECT acdat.count_matches(''x'', %L)',
		'SELECT acdat.match_ids(''x'', %L)', 'SELECT acdat.first_match(''x'', %L)',
		'SELECT * FROM acdat.matches(''x'', %L)', 'SELECT acdat.replace(''x'', %L)',
		'SELECT acdat.redact(''x'', %L)', 'SELECT acdat.redact(''x''::bytea, %L)',
		'SELECT * FROM acdat.patterns(%L)', 'SELECT * FROM acdat.patterns(%L, 1)',
		'SELECT acdat.publish(%L, ARRAY[''x''])', 'SELECT acdat.publish(%L, ''SELECT 1'')',
		'SELECT acdat.republish(%L)', 'SELECT acdat.rollback(%L, 1)',
		'SELECT acdat.set_reader(%L, ''public'')', 'SELECT acdat.rename_dictionary(%L, ''x'')',
		'SELECT acdat.drop_dictionary(%L)'])
		WITH ORDINALITY c(c, n), rights_try(format(c, dictionary)) t
	ORDER BY n
$$;
SET ROLE regress_other;
SELECT * FROM rights_all('rights');
-- not even with nothing to scan; what the views show is no pattern
SELECT acdat.contains('', 'rights');
SELECT name, owner, version, patterns FROM acdat.dictionaries WHERE name = 'rights';
RESET ROLE;

-- a reader role: its members scan, and do no more
SELECT acdat.set_reader('rights', 'regress_reader');
SET ROLE regress_member;
SELECT * FROM rights_all('rights') WHERE state IS NOT NULL;
SELECT acdat.contains('a word', 'rights');
RESET ROLE;
SET ROLE regress_other;
SELECT acdat.contains('a word', 'rights');
RESET ROLE;
-- membership that ends is noticed by a running session
PREPARE rights_scan AS SELECT acdat.contains('a word', 'rights');
SET ROLE regress_member;
EXECUTE rights_scan;
RESET ROLE;
REVOKE regress_reader FROM regress_member;
SET ROLE regress_member;
EXECUTE rights_scan;
RESET ROLE;
GRANT regress_reader TO regress_member;
SET ROLE regress_member;
EXECUTE rights_scan;
RESET ROLE;
DEALLOCATE rights_scan;
-- a member that does not inherit the rights of the role
SET ROLE regress_stranger;
SELECT acdat.contains('a word', 'rights');
RESET ROLE;

-- everybody, and nobody again
SELECT acdat.set_reader('rights', 'public');
SET ROLE regress_other;
SELECT acdat.contains('a word', 'rights'), acdat.redact('a word', 'rights');
SELECT * FROM rights_all('rights') WHERE state IS NOT NULL;
RESET ROLE;
SELECT acdat.set_reader('rights', NULL);
SET ROLE regress_other;
SELECT acdat.contains('a word', 'rights');
RESET ROLE;
-- publish() can set it as well, and keeps it when it does not
SELECT acdat.publish('rights', ARRAY['word'], reader => 'regress_reader');
SELECT acdat.publish('rights', ARRAY['word']);
SELECT owner, reader FROM acdat.dictionaries WHERE name = 'rights';
SET ROLE regress_member;
SELECT acdat.contains('a word', 'rights');
RESET ROLE;
-- undone with its transaction
BEGIN;
SELECT acdat.set_reader('rights', NULL);
SET LOCAL ROLE regress_member;
SELECT acdat.contains('a word', 'rights');
ROLLBACK;
SET ROLE regress_member;
SELECT acdat.contains('a word', 'rights');
RESET ROLE;

-- members of the owner are owners
SET ROLE regress_co_owner;
SELECT acdat.contains('a word', 'rights');
SELECT pattern FROM acdat.patterns('rights');
SELECT acdat.rename_dictionary('rights', 'rights_new');
SELECT acdat.rename_dictionary('rights_new', 'rights');
RESET ROLE;

-- within a function the rights are those of its owner
CREATE FUNCTION rights_scan(t text) RETURNS boolean LANGUAGE sql SECURITY DEFINER
	SET search_path = pg_catalog AS $$ SELECT acdat.contains(t, 'rights') $$;
ALTER FUNCTION rights_scan(text) OWNER TO regress_owner;
SET ROLE regress_other;
SELECT rights_scan('a word');
SELECT acdat.contains('a word', 'rights');
RESET ROLE;
-- and in a view those of the caller
CREATE VIEW rights_view AS SELECT acdat.contains('a word', 'rights');
GRANT SELECT ON rights_view TO regress_other;
SET ROLE regress_other;
SELECT * FROM rights_view;
RESET ROLE;

-- republish: with the rights of the owner, not of the caller
SET ROLE regress_owner;
CREATE TEMP TABLE rights_own (pattern text);
INSERT INTO rights_own VALUES ('own');
SELECT acdat.publish('rights_q', 'SELECT pattern, current_user::text AS tag FROM pg_temp.rights_own');
SELECT source FROM acdat.versions WHERE name = 'rights_q';
SET ROLE regress_other;
SELECT source, version FROM acdat.versions WHERE name = 'rights_q';
RESET ROLE;
SELECT acdat.republish('rights_q');
SELECT pattern, tag FROM acdat.patterns('rights_q');
SELECT current_user = session_user AS unchanged;
SET ROLE regress_owner;
SELECT acdat.publish('rights_q', 'SELECT pattern FROM rights_own WHERE set_config(''role'', ''none'', false) IS NOT NULL');
RESET ROLE;
SELECT acdat.republish('rights_q');
GRANT SELECT ON rights_secret TO regress_owner;
SET ROLE regress_owner;
SELECT acdat.publish('rights_q', 'TABLE rights_secret');
RESET ROLE;
REVOKE SELECT ON rights_secret FROM regress_owner;
SELECT acdat.republish('rights_q');
SELECT acdat.contains('classified', 'rights_q');

-- cluster-wide: not without the right
SET ROLE regress_owner;
SELECT acdat.publish('rights_c', ARRAY['x'], cluster => true);
SELECT acdat.publish('rights', ARRAY['x'], cluster => true);
SELECT count(*) FROM acdat.dictionaries WHERE name = 'rights_c' OR cluster;
RESET ROLE;
SELECT acdat.publish('rights_c', ARRAY['x'], cluster => true, reader => 'public');
SET ROLE regress_other;
SELECT acdat.contains('x', 'rights_c');
SELECT acdat.publish('rights_c', ARRAY['y']);
RESET ROLE;

-- a name that was once somebody's gives no right to what has it now
SET ROLE regress_other;
SELECT acdat.publish('rights_mine', ARRAY['mine']);
SELECT acdat.drop_dictionary('rights_mine');
RESET ROLE;
SELECT acdat.publish('rights_mine', ARRAY['yours']);
SET ROLE regress_other;
SELECT acdat.contains('yours', 'rights_mine');
SELECT acdat.rename_dictionary('rights_mine', 'x');
RESET ROLE;

-- an owner that is gone leaves it to superusers
DROP FUNCTION rights_scan(text);
DROP TABLE rights_own;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA acdat FROM regress_owner;
DROP ROLE regress_co_owner, regress_owner;
SELECT name, owner, reader FROM acdat.dictionaries WHERE name = 'rights';
SELECT acdat.contains('a word', 'rights');
SELECT acdat.publish('rights', ARRAY['new']);
SELECT acdat.contains('a new', 'rights');
SET ROLE regress_member;
SELECT acdat.contains('a new', 'rights');
RESET ROLE;
SELECT acdat.republish('rights_q');
-- one that was open to everybody is closed with it
SELECT acdat.set_reader('rights', 'public');
SET ROLE regress_member;
SELECT acdat.contains('a new', 'rights');
RESET ROLE;
SELECT acdat.drop_dictionary(name) FROM acdat.dictionaries WHERE name LIKE 'rights%' ORDER BY name;

DROP VIEW rights_view;
DROP FUNCTION rights_all(text), rights_try(text);
DROP TABLE rights_secret;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA acdat FROM regress_other;
DROP ROLE regress_member, regress_stranger, regress_reader, regress_other;
