--
-- Which matches each policy takes
--
CREATE FUNCTION pg_temp.show(patterns text[], t text, policy text, priorities integer[] DEFAULT NULL)
	RETURNS text LANGUAGE sql AS
$$
	SELECT string_agg(format('%s[%s,%s)', h.pattern_id, h.char_pos - 1,
		h.char_pos - 1 + h.char_len), ' ')
	FROM (SELECT acdat.compile(p, n, coalesce(priorities[n], 0))
		  FROM unnest(patterns) WITH ORDINALITY u(p, n)) d(machine),
		acdat.matches(t, machine, policy) h
$$;

SELECT n, policy, pg_temp.show(patterns, t, policy)
FROM (VALUES
	(1, '{b,c,abd}'::text[], 'abc'),
	(2, '{知识产权,国家知识产权局}', '国家知识产权'),
	(3, '{abcd,bc}', 'abc'),
	(4, '{an,canal,e can oilfield}', 'one canal'),
	(5, '{acted,abstracted,abstractedness}', 'abstracted'),
	(6, '{/bar,/foo/bar,bar}', '/foo/bar'),
	(7, '{"a a","a b"}', 'a a b a a'),
	(8, '{"a b","b c d e"}', 'a b c d e'),
	(9, '{spring,spring framework,framework}', 'spring framework'),
	(10, '{头疼,头晕}', '头疼头晕'),
	(11, '{ABC DE,DE FGHI}', 'ABC DE FGHI'),
	(12, '{234,345,123}', '123456'),
	(13, '{S}', 'SSS'),
	(14, '{一,二二,三三三}', '一,二二,三三三'),
	(15, '{php.a,php.e,php.o,e,php.elu,php.s,php.x}', 'php.ele'),
	(16, '{мир,вст,авст}', 'Здравствуй, мир')) v(n, patterns, t),
	unnest('{all_overlapping,leftmost_longest,leftmost_first}'::text[])
		WITH ORDINALITY u(policy, o)
ORDER BY n, o;

-- ties: leftmost_longest by priority, then id; leftmost_first by priority
-- before length
SELECT policy, pg_temp.show('{aa,aa,aaa,aaa}', 'aaaa', policy, '{9,1,0,7}')
FROM unnest('{leftmost_longest,leftmost_first,all_overlapping}'::text[]) policy;
SELECT policy, pg_temp.show('{aaa,aa,aaa}', 'aaaa', policy)
FROM unnest('{leftmost_longest,leftmost_first}'::text[]) policy;
SELECT pg_temp.show('{abcd,b}', 'abcd', 'leftmost_first', '{-1,100}')
	AS the_leftmost_start_decides;

-- the policy may differ from row to row
SELECT policy, acdat.count_matches('aaaa', machine, policy)
FROM (SELECT acdat.compile(p) FROM unnest('{a,aa}'::text[]) p) d(machine),
	unnest('{all_overlapping,leftmost_longest,leftmost_first,all_overlapping}'::text[]) policy;
DO $$
DECLARE
	m acdat.machine := acdat.compile(p) FROM unnest('{a,aa}'::text[]) p;
	policy text;
	counts bigint[] := '{}';
BEGIN
	FOREACH policy IN ARRAY '{all_overlapping,leftmost_longest,all_overlapping}'::text[] LOOP
		counts := counts || acdat.count_matches('aaaa', m, policy);
	END LOOP;
	RAISE NOTICE '%', counts;
END
$$;

-- words that are no policy
SELECT pg_temp.show('{a}', 'a', 'longest');
SELECT pg_temp.show('{a}', 'a', '');
SELECT pg_temp.show('{a}', 'a', 'merged');
SELECT pg_temp.show('{a}', 'a', 'LEFTMOST_LONGEST');
SELECT pg_temp.show('{a}', 'a', repeat('leftmost_longest', 2)) IS NULL;
