--
-- Options of dictionaries: case, normalization, boundary, ignore, allow
-- patterns and tags
--

SET client_min_messages = warning;

-- publishes a dictionary and shows what it finds, as id[from,to) in characters
CREATE FUNCTION options_show(patterns text[], t text, case_insensitive text DEFAULT 'none',
	normalization text DEFAULT 'none', boundary text DEFAULT 'none', ignore text DEFAULT '',
	policy text DEFAULT 'all_overlapping') RETURNS text LANGUAGE plpgsql AS
$$
BEGIN
	PERFORM acdat.publish('options', patterns, case_insensitive, normalization, boundary, ignore);
	RETURN (SELECT string_agg(format('%s[%s,%s)', h.pattern_id, h.char_pos - 1,
		h.char_pos - 1 + h.char_len), ' ')
		FROM acdat.matches(t, 'options', policy) h);
END
$$;

-- case: none, ASCII letters only, all letters with a simple folding
SELECT t, c, options_show('{Straße,ÄRGER,k}'::text[], t, case_insensitive => c)
FROM unnest(ARRAY['Straße', 'STRAßE', 'STRAẞE', 'STRASSE', 'ärger', 'K', U&'\212A']) t,
	unnest('{none,ascii,unicode}'::text[]) c;
-- İ and ı are no i
SELECT t, options_show('{this,ılık}'::text[], t, case_insensitive => 'unicode')
FROM unnest('{THIS,"LİKE THIS",THİS,thıs,ILIK}'::text[]) t;
-- ς, σ and Σ are one; lengths differ, positions are those of the text
SELECT t, options_show('{σσ,ⱥ}'::text[], t, case_insensitive => 'unicode')
FROM unnest('{ΣΣ,aςσ,"xȺy Ⱥ"}'::text[]) t;
SELECT t, h.byte_pos, h.byte_len, h.char_pos, h.char_len,
	substr(t, h.char_pos, h.char_len) AS matched
FROM (VALUES ('Ⱥaⱥ')) v(t), acdat.matches(t, 'options') h;

-- normalization: none, full and half width, NFKC
SELECT t, n, options_show('{ABC,カ,ガ,fi,é}'::text[], t, normalization => n)
FROM unnest(ARRAY['ABC', 'ＡＢＣ', 'ｶ', 'ｶﾞ', 'ガ', U&'\30AB\3099', 'ﬁ', 'é', U&'e\0301']) t,
	unnest('{none,width,nfkc}'::text[]) n;
-- the pattern may be the one that is written in another way
SELECT n, options_show(ARRAY['ＡＢＣ', 'ｶﾞ', 'ﬁ', U&'e\0301'], 'ABC ガ fi é', normalization => n)
FROM unnest('{none,width,nfkc}'::text[]) n;
-- what normalization makes one character is never matched in part
SELECT n, options_show('{f,i,カ,e}'::text[], U&'ﬁ ｶﾞ e\0301', normalization => n)
FROM unnest('{none,width,nfkc}'::text[]) n;
-- positions are those of the text, not of its normal form
SELECT options_show('{ガ株}'::text[], '', normalization => 'nfkc');
SELECT t, h.byte_pos, h.byte_len, h.char_pos, h.char_len,
	substr(t, h.char_pos, h.char_len) AS matched
FROM (VALUES ('①ｶﾞ株')) v(t), acdat.matches(t, 'options') h;
-- with case as well
SELECT options_show('{ａｂｃ}'::text[], 'ABC ＡＢＣ aＢc', 'ascii', 'width');
SELECT options_show('{ＡＢＣ}'::text[], 'abc ＡＢＣ ａbＣ', 'unicode', 'nfkc');

-- boundary: whole words only, of any script
SELECT t, b, options_show('{word,t.me,日本,naïve}'::text[], t, boundary => b)
FROM unnest('{word,words,"a word.",sword,word_s,word-s,"tt.me foo.t.me",naïve,naïves,Naïve,日本語,日本へ}'::text[]) t,
	unnest('{none,word}'::text[]) b;
-- a shorter match at the same start when the longer one fails
SELECT policy, options_show('{testing,testing 123}'::text[], 'testing 12345', boundary => 'word', policy => policy)
FROM unnest('{all_overlapping,leftmost_longest,leftmost_first}'::text[]) policy;
SELECT options_show('{a,a b,a b c}'::text[], 'a b cd', boundary => 'word', policy => 'leftmost_longest');

-- ignore: characters that may be interspersed, and are part of the match
SELECT t, options_show('{secret,a b}'::text[], t, ignore => ' -*_')
FROM unnest('{secret,s-e-c-r-e-t,"s e  c_r*e-t","-secret-",secre.t,ab,a-b,"x a   b y"}'::text[]) t;
-- with all the others
SELECT t, options_show('{Geheim}'::text[], t, 'unicode', 'width', 'word', ' -')
FROM unnest('{"das g-e-h e-i-m ist","ＧＥ-ＨＥＩＭ",Geheimnis,"g e h e i m n i s"}'::text[]) t;
SELECT acdat.redact('das g-e-h e-i-m ist', 'options'), acdat.redact('das Ｇ-ＥＨＥＩＭ ist', 'options', 'fixed');
-- characters of any length, with regular-expression letters among them
SELECT t, options_show('{abc}'::text[], t, ignore => '·]^[.€')
FROM unnest('{a·b·c,a]b^c,a[b.c,a€b€c,a-b-c}'::text[]) t;

-- allow patterns: what lies within one is no match; what only overlaps is
CREATE FUNCTION options_allow(deny text[], allow text[], t text, policy text DEFAULT 'all_overlapping')
	RETURNS text LANGUAGE plpgsql AS
$$
BEGIN
	PERFORM acdat.publish('options', format('SELECT * FROM (SELECT pattern, row_number() OVER () AS id, false AS allow
		FROM unnest(%L::text[]) pattern UNION ALL SELECT pattern, -1, true FROM unnest(%L::text[]) pattern) x', deny, allow),
		'none', 'none', 'none', '');
	RETURN coalesce((SELECT string_agg(format('%s[%s,%s)', h.pattern_id, h.char_pos - 1,
		h.char_pos - 1 + h.char_len), ' ')
		FROM acdat.matches(t, 'options', policy) h), '-') || ' ' || acdat.redact(t, 'options');
END
$$;
SELECT n, options_allow(deny, allow, t)
FROM (VALUES
	(1, '{黄片}'::text[], '{三黄片}'::text[], '吃三黄片'),
	(2, '{黄片}', '{三黄片}', '看黄片'),
	(3, '{他妈}', '{他妈妈}', '他妈妈说'),
	(4, '{共产}', '{共产党}', '共产党'),
	(5, '{口交}', '{路口交通}', '在路口交通'),
	(6, '{abc}', '{bcd}', 'abcd'),
	(7, '{ass}', '{class,ass}', 'class ass'),
	(8, '{ass}', '{class}', 'class ass bass'),
	(9, '{a,ab,abc}', '{ab}', 'abc'),
	(10, '{xx}', '{xxx}', 'xxxxx'),
	(11, '{hell}', '{hello world}', 'hello worl hello world')) v(n, deny, allow, t)
ORDER BY n;
-- dropped before the policy chooses
SELECT policy, options_allow('{a,ab}', '{ab}', 'ab a', policy),
	options_allow('{abc,bcd}', '{abc}', 'abcd', policy)
FROM unnest('{all_overlapping,leftmost_longest,leftmost_first}'::text[]) policy;
-- only exceptions: nothing is ever found
SELECT options_allow('{}', '{word}', 'a word');
-- they are never reported
SELECT acdat.match_ids('class ass', 'options'), acdat.contains('word', 'options'),
	acdat.first_match('word', 'options') IS NULL AS none, acdat.count_matches('word', 'options');

-- tags come with each match
SELECT acdat.publish('options', $$SELECT * FROM (VALUES ('anna', 1, 'name'), ('4111', 2, 'card'),
	('x', 3, NULL), ('', 4, 'empty') , ('y', 5, '')) v(pattern, id, tag) WHERE pattern <> ''$$);
SELECT pattern_id, tag, tag IS NULL AS no_tag FROM acdat.matches('anna 4111 x y', 'options');
SELECT (acdat.first_match('4111', 'options')).tag;

SELECT acdat.drop_dictionary('options');
DROP FUNCTION options_show(text[], text, text, text, text, text, text), options_allow(text[], text[], text, text);
