# Cluster-wide dictionaries, and who may publish, scan and read patterns.

use strict;
use warnings;

use AcdatTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('cluster_wide');
my @words = qw(alpha beta gamma delta);

sql($node, 'postgres', q{
	CREATE ROLE publisher LOGIN;
	CREATE ROLE rulers;
	CREATE ROLE readers;
	CREATE ROLE reader LOGIN IN ROLE readers;
	CREATE ROLE stranger LOGIN;
	GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA acdat TO publisher});
sql($node, 'postgres', 'CREATE DATABASE second');
sql($node, 'second', q{
	CREATE EXTENSION acdat_bgw;
	GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA acdat TO publisher});

my $first = session($node, 'postgres');
my $second = session($node, 'second');

# The statement fails, and says so in this way.
sub refused
{
	my ($user, $database, $query, $error, $sentence) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;

	return like(sql_error($node, $database, $query, user => $user), $error, $sentence);
}

# ---- Use from another database ----

is(publish($node, 'postgres', 'rule', ['alpha'], cluster => 'true', reader => quote_text('readers')),
	1, 'a cluster-wide dictionary is published');
answer_is($second, 'rule', \@words, 'alpha', 'it is used by name from a second database');
is($second->query('SELECT count(*) FROM acdat.dictionary'), 0, 'which has no row of it');
is($second->query(q{SELECT acdat.redact('one alpha', 'rule')}), 'one *****',
	'it redacts there');
is($second->query(q{SELECT database, cluster FROM acdat.generations WHERE dictionary = 'rule'}),
	'postgres|t', 'the view shows the second database where it comes from');
is($second->query(q{SELECT count(DISTINCT segment) FROM acdat.generations}),
	1, 'both databases share one machine');

publish($node, 'postgres', 'rule', ['beta']);
answer_is($second, 'rule', \@words, 'beta', 'after a publish the next statement there follows');
is($first->query(q{SELECT cluster, reader FROM acdat.dictionaries WHERE name = 'rule'}),
	't|readers', 'a publish that says nothing about it keeps it cluster-wide');
$first->query('BEGIN');
$first->query(q{SELECT acdat.publish('rule', ARRAY['gamma'])});
answer_is($second, 'rule', \@words, 'beta', 'an open transaction does not concern the second database');
$first->query('ROLLBACK');
answer_is($second, 'rule', \@words, 'beta', 'nor does its ROLLBACK');

publish($node, 'postgres', 'local', ['alpha'], reader => quote_text('public'));
like($second->error(q{SELECT acdat.contains('x', 'local')}),
	qr/ERROR:  42704: dictionary "local" does not exist/,
	'a dictionary that is not cluster-wide does not exist in other databases');
publish($node, 'second', 'local', ['gamma']);
answer_is($second, 'local', \@words, 'gamma', 'another database can have one of the same name');
answer_is($first, 'local', \@words, 'alpha', 'and both answer at home');

# ---- A rule cannot be shadowed ----

refused(undef, 'second', q{SELECT acdat.publish('rule', ARRAY['delta'])},
	qr/ERROR:  42710: cluster-wide dictionary "rule" already exists.*HINT:/s,
	'a local dictionary cannot take the name of a cluster-wide one');
refused(undef, 'second', q{SELECT acdat.publish('rule', ARRAY['delta'], cluster => true)},
	qr/ERROR:  42710: cluster-wide dictionary "rule" already exists/,
	'nor can a second cluster-wide one');
refused(undef, 'second', q{SELECT acdat.rename_dictionary('local', 'rule')},
	qr/ERROR:  42710: cluster-wide dictionary "rule" already exists/,
	'nor can a local one be renamed to it');
refused(undef, 'postgres', q{SELECT acdat.publish('local', ARRAY['delta'], cluster => true)},
	qr/ERROR:  42710: dictionary "local" already exists.*DETAIL:/s,
	'a dictionary whose name another database uses cannot become cluster-wide');
refused(undef, 'postgres', q{SELECT acdat.rename_dictionary('rule', 'local')},
	qr/ERROR:  42710:/, 'nor can a cluster-wide one be renamed to that');
is($second->query(q{SELECT acdat.contains('beta', 'rule')}), 't',
	'after all that the rule is the same');
refused(undef, 'second', q{SELECT acdat.drop_dictionary('rule')},
	qr/ERROR:  42704:/, 'it cannot be dropped from another database');

# Rows that come another way do not shadow it either.
sql($node, 'second', q{
	INSERT INTO acdat.dictionary (id, name, owner, cluster, version, revision)
	SELECT gen_random_uuid(), 'rule', owner, false, version, revision
	FROM acdat.dictionary WHERE name = 'local';
	INSERT INTO acdat.dictionary_version (dictionary, version, publisher, patterns, pattern_bytes,
		case_insensitive, normalization, boundary, ignore, encoding, content)
	SELECT (SELECT id FROM acdat.dictionary WHERE name = 'rule'), v.version, publisher, patterns,
		pattern_bytes, case_insensitive, normalization, boundary, ignore, encoding, content
	FROM acdat.dictionary_version v JOIN acdat.dictionary d ON d.id = v.dictionary
	WHERE d.name = 'local'});
ok($node->poll_query_until('postgres',
		q{SELECT count(*) = 1 FROM acdat.generations WHERE dictionary = 'rule' AND database = 'second'}),
	'rows of the same name that were written by hand are loaded');
answer_is($second, 'rule', \@words, 'beta', 'but do not shadow the rule');
sql($node, 'second', q{DELETE FROM acdat.dictionary WHERE name = 'rule'});

# Two databases at the same time.
$first->query('BEGIN');
$first->query(q{SELECT acdat.publish('contested', ARRAY['alpha'], cluster => true)});
$second->send_query(q{SELECT acdat.publish('contested', ARRAY['beta'])});
ok(wait_for_lock($node, $second), 'a publish waits for one of the same name in another database');
$first->query('COMMIT');
like(($second->result)[1], qr/ERROR:  42710:/, 'and is refused once that is a rule');
$first->query('BEGIN');
$first->query(q{SELECT acdat.drop_dictionary('contested')});
$second->send_query(q{SELECT acdat.publish('contested', ARRAY['beta'])});
ok(wait_for_lock($node, $second), 'it waits for a drop in another database');
$first->query('COMMIT');
is(($second->result)[0], 1, 'and then has the name');
answer_is($second, 'contested', \@words, 'beta', 'under which it answers');

# ---- Who may publish ----

refused('stranger', 'postgres', q{SELECT acdat.publish('mine', ARRAY['alpha'])},
	qr/ERROR:  42501: permission denied for function publish/, 'publish() is not for everybody');
is(sql($node, 'postgres', q{SELECT acdat.publish('mine', ARRAY['alpha'])}, user => 'publisher'),
	1, 'a role that was granted publish() can use it');
refused('publisher', 'postgres', q{SELECT acdat.publish('wide', ARRAY['alpha'], cluster => true)},
	qr/ERROR:  42501: permission denied to publish a cluster-wide dictionary.*HINT:.*cluster_publisher/s,
	'but not cluster-wide');
refused('publisher', 'postgres', q{SELECT acdat.publish('mine', ARRAY['alpha'], cluster => true)},
	qr/ERROR:  42501: permission denied to publish a cluster-wide dictionary/,
	'nor can it make its own dictionary cluster-wide');
refused('publisher', 'second', q{SELECT acdat.publish('rule', ARRAY['alpha'])},
	qr/ERROR:  42710:/, 'nor shadow a rule');

sql($node, 'postgres', q{ALTER SYSTEM SET acdat_bgw.cluster_publisher = 'rulers'});
$node->reload;
ok($node->poll_query_until('postgres', q{SELECT current_setting('acdat_bgw.cluster_publisher') = 'rulers'}),
	'acdat_bgw.cluster_publisher can be changed while the server runs');
refused('publisher', 'postgres', q{SELECT acdat.publish('wide', ARRAY['alpha'], cluster => true)},
	qr/ERROR:  42501:/, 'a role outside it still cannot publish cluster-wide');
sql($node, 'postgres', 'GRANT rulers TO publisher');
is(sql($node, 'postgres', q{SELECT acdat.publish('wide', ARRAY['alpha'], cluster => true, reader => 'public')},
		user => 'publisher'),
	1, 'a member of it can');
is(sql($node, 'second', answer('wide', @words), user => 'stranger'), 'alpha',
	'and everybody in every database can use that if it is for the public');
sql($node, 'postgres', 'REVOKE rulers FROM publisher');
foreach my $change (
	q{SELECT acdat.publish('wide', ARRAY['beta'])},
	q{SELECT acdat.publish('wide', ARRAY['beta'], cluster => false)},
	q{SELECT acdat.rollback('wide', 1)},
	q{SELECT acdat.drop_dictionary('wide')},
	q{SELECT acdat.rename_dictionary('wide', 'narrow')},
	q{SELECT acdat.set_reader('wide', NULL)})
{
	refused('publisher', 'postgres', $change, qr/ERROR:  42501: permission denied to publish/,
		"without membership its owner cannot do this: $change");
}
is(sql($node, 'postgres', q{SELECT count(*) FROM acdat.dictionaries WHERE name = 'wide' AND version = 1 AND reader = 'public'}),
	1, 'and nothing was changed');

# ---- Who may change ----

sql($node, 'postgres', 'GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA acdat TO reader');
publish($node, 'postgres', 'asked', q{SELECT word AS pattern FROM (VALUES ('alpha')) v(word)},
	reader => quote_text('readers'));
foreach my $change (
	q{SELECT acdat.publish('asked', ARRAY['beta'])},
	q{SELECT acdat.republish('asked')},
	q{SELECT acdat.rollback('asked', 1)},
	q{SELECT acdat.drop_dictionary('asked')},
	q{SELECT acdat.rename_dictionary('asked', 'told')},
	q{SELECT acdat.set_reader('asked', 'public')})
{
	refused('reader', 'postgres', $change, qr/ERROR:  42501: must be owner of dictionary "asked"/,
		"only the owner can do this: $change");
}
is($first->query(q{SELECT version, reader FROM acdat.dictionaries WHERE name = 'asked'}),
	'1|readers', 'and nothing was changed');
refused('reader', 'postgres', q{INSERT INTO acdat.dictionary SELECT * FROM acdat.dictionary},
	qr/ERROR:  42501:/, 'the table cannot be written to');

# ---- Who may scan ----

foreach my $database (qw(postgres second))
{
	is(sql($node, $database, answer('rule', @words), user => 'reader'), 'beta',
		"a member of the reader role can scan in database $database");
	refused('stranger', $database, q{SELECT acdat.contains('beta', 'rule')},
		qr/ERROR:  42501: permission denied for dictionary "rule"/,
		"a role outside the reader role cannot scan in database $database");
}
foreach my $call (
	q{acdat.contains('beta', 'rule')}, q{acdat.contains('beta'::bytea, 'rule')},
	q{acdat.count_matches('beta', 'rule')}, q{acdat.match_ids('beta', 'rule')},
	q{acdat.first_match('beta', 'rule')}, q{acdat.matches('beta', 'rule')},
	q{acdat.replace('beta', 'rule')}, q{acdat.replace('beta'::bytea, 'rule')},
	q{acdat.redact('beta', 'rule')}, q{acdat.redact('beta'::bytea, 'rule')})
{
	refused('stranger', 'second', "SELECT $call", qr/ERROR:  42501: permission denied for dictionary "rule"/,
		"the reader role counts for $call");
}
is(sql($node, 'postgres', answer('mine', @words), user => 'publisher'), 'alpha', 'the owner can scan');
refused('reader', 'postgres', q{SELECT acdat.contains('x', 'mine')}, qr/ERROR:  42501:/,
	'without a reader nobody else can');
sql($node, 'postgres', q{SELECT acdat.set_reader('mine', 'public')}, user => 'publisher');
is(sql($node, 'postgres', answer('mine', @words), user => 'stranger'), 'alpha',
	'with reader public everybody can');
sql($node, 'postgres', q{SELECT acdat.set_reader('mine', NULL)}, user => 'publisher');
refused('stranger', 'postgres', q{SELECT acdat.contains('x', 'mine')}, qr/ERROR:  42501:/,
	'and with NULL nobody again');

# A right that was there a statement ago.
my $reader = session($node, 'postgres', user => 'reader');
$reader->query(q{PREPARE p AS SELECT acdat.contains('beta', 'rule')});
is($reader->query('EXECUTE p'), 't', 'a prepared statement of the reader works');
sql($node, 'postgres', 'REVOKE readers FROM reader');
like($reader->error('EXECUTE p'), qr/ERROR:  42501:/,
	'its next execution notices that the membership is gone');
sql($node, 'postgres', 'GRANT readers TO reader');
is($reader->query('EXECUTE p'), 't', 'and that it is back');
$first->query(q{SELECT acdat.set_reader('rule', NULL)});
like($reader->error('EXECUTE p'), qr/ERROR:  42501:/, 'and that the dictionary has no reader any more');
$first->query(q{SELECT acdat.set_reader('rule', 'readers')});
is($reader->query('EXECUTE p'), 't', 'and that it has one again');

# ---- Who may read patterns ----

is($first->query(q{SELECT string_agg(pattern, ' ') FROM acdat.patterns('rule')}), 'beta',
	'the owner can read the patterns');
foreach my $user (qw(reader stranger publisher))
{
	refused($user, 'postgres', q{SELECT * FROM acdat.patterns('rule')},
		qr/ERROR:  42501:/, "role $user cannot");
}
is(sql($node, 'postgres', q{SELECT string_agg(pattern, ' ') FROM acdat.patterns('mine')}, user => 'publisher'),
	'alpha', 'an owner who is no superuser can read those of its own');
refused('reader', 'postgres', 'SELECT content FROM acdat.dictionary_version',
	qr/ERROR:  42501: permission denied for table dictionary_version/,
	'the table of versions is closed');
is(sql($node, 'postgres', q{SELECT count(*), count(source) FROM acdat.versions WHERE name = 'asked'}, user => 'reader'),
	'1|0', 'the view of versions shows the query to the owner only');
is($first->query(q{SELECT count(source) FROM acdat.versions WHERE name = 'asked'}), 1,
	'to whom it does');
my $views = join '', map { sql($node, 'postgres', "SELECT v::text FROM acdat.$_ v", user => 'reader') }
  qw(dictionaries versions generations worker);
unlike($views, qr/alpha|beta|gamma/, 'no view shows a pattern to others');

# ---- republish() runs as the owner ----

is(sql($node, 'postgres', q{SELECT acdat.publish('who', 'SELECT current_user::text AS pattern')}, user => 'publisher'),
	1, 'a query is published that depends on who runs it');
$first->query(q{SELECT acdat.republish('who')});
is($first->query(q{SELECT pattern FROM acdat.patterns('who')}), 'publisher',
	'republish() by a superuser runs it as the owner');
sql($node, 'postgres', q{
	CREATE FUNCTION public.climb() RETURNS text LANGUAGE plpgsql AS $$
	BEGIN
		IF session_user = current_user THEN RETURN 'harmless'; END IF;
		SET ROLE rulers;
		RETURN 'climbed';
	END $$});
sql($node, 'postgres', q{SELECT acdat.publish('climb', 'SELECT public.climb() AS pattern')}, user => 'publisher');
like($first->error(q{SELECT acdat.republish('climb')}), qr/ERROR:  42501: cannot set parameter "role"/,
	'which cannot become somebody else');

# ---- A missing owner closes ----

sql($node, 'postgres', q{
	CREATE ROLE leaver LOGIN;
	GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA acdat TO leaver});
sql($node, 'postgres', q{SELECT acdat.publish('orphan', ARRAY['alpha'], reader => 'readers')}, user => 'leaver');
sql($node, 'postgres', q{SELECT acdat.publish('foundling', ARRAY['alpha'], reader => 'public')}, user => 'leaver');
is($reader->query(answer('orphan', @words)), 'alpha', 'a dictionary is in use by a reader');
is($reader->query(answer('foundling', @words)), 'alpha', 'another by the public');
sql($node, 'postgres', 'DROP OWNED BY leaver; DROP ROLE leaver');
foreach my $when ('at once', 'after a restart')
{
	foreach my $name (qw(orphan foundling))
	{
		refused('reader', 'postgres', "SELECT acdat.contains('alpha', '$name')", qr/ERROR:  42501:/,
			"dictionary $name whose owner was dropped is closed $when");
		is(sql($node, 'postgres', answer($name, @words)), 'alpha',
			"but not to superusers, $when");
	}
	refused('reader', 'postgres', q{SELECT acdat.publish('orphan', ARRAY['beta'])},
		qr/ERROR:  42501:/, "others cannot publish over it $when");
	next if $when ne 'at once';
	$_->quit foreach ($first, $second, $reader);
	$node->restart;
}

# So does a missing reader role, to those who had the right through it.
sql($node, 'postgres', q{
	CREATE ROLE passers;
	CREATE ROLE passer LOGIN IN ROLE passers});
publish($node, 'postgres', 'passed', ['alpha'], reader => quote_text('passers'));
is(sql($node, 'postgres', answer('passed', @words), user => 'passer'), 'alpha', 'a reader scans');
sql($node, 'postgres', 'DROP ROLE passers');
refused('passer', 'postgres', q{SELECT acdat.contains('alpha', 'passed')}, qr/ERROR:  42501:/,
	'and cannot any more when the reader role was dropped');
refused('stranger', 'postgres', q{SELECT acdat.contains('alpha', 'passed')}, qr/ERROR:  42501:/,
	'nor can anybody else');

$node->stop;
done_testing();
