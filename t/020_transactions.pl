# publish() and its kin are transactional: invisible to others until COMMIT,
# undone by ROLLBACK and ROLLBACK TO SAVEPOINT without a trace in rows,
# registry and shared memory, and at once visible to everybody after COMMIT.

use strict;
use warnings;

use AcdatTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('transactions', conf => "max_prepared_transactions = 2\n");
my @words = qw(alpha beta gamma delta);

sql($node, 'postgres', 'CREATE ROLE reader LOGIN');
publish($node, 'postgres', 'd', ['alpha']);

my $writer = session($node, 'postgres');
my $other = session($node, 'postgres');
my $reader = session($node, 'postgres', user => 'reader');

# Rows of both tables, as a text.
sub rows
{
	return sql($node, 'postgres', q{
		SELECT concat(
			(SELECT string_agg(d::text, ' ' ORDER BY d.name) FROM acdat.dictionary d), ' ',
			(SELECT string_agg(concat(v.dictionary, ':', v.version, ':', v.published_at), ' '
				ORDER BY v.dictionary, v.version) FROM acdat.dictionary_version v))});
}

# What can be seen of dictionaries from outside; segments are waited for,
# as they go when the launcher comes to it.
my ($rows_before, $states_before, $segments_before);

sub remember
{
	$rows_before = rows();
	$states_before = states_of($node);
	$segments_before = cluster_segments($node);
	return;
}

sub leaves_no_trace
{
	my ($what) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;

	is(rows(), $rows_before, "$what leaves no trace in the tables");
	ok(wait_for_states($node, undef, $states_before),
		"$what leaves no trace in the registry");
	ok(wait_for_segments($node, $segments_before),
		"$what leaves no trace in shared memory");
	return;
}

sub both_see
{
	my ($expected, $when) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;

	answer_is($writer, 'd', \@words, $expected, "$when, the same session sees $expected");
	answer_is($other, 'd', \@words, $expected, "$when, another session sees $expected");
	return;
}

# ---- ROLLBACK ----

both_see('alpha', 'at first');
ok(wait_for_states($node, undef, 'd:1:live'), 'one state is known at first');
remember();

$writer->query('BEGIN');
is($writer->query(q{SELECT acdat.publish('d', ARRAY['beta'])}),
	2, 'a publish in a transaction returns the next version');
answer_is($writer, 'd', \@words, 'beta',
	'the transaction sees its own publish at its next command');
answer_is($other, 'd', \@words, 'alpha',
	'another session keeps the old version before COMMIT');
is(states_of($node, 'd'), '1:live 2:pending',
	'the registry shows the uncommitted version as pending');
my $pending = segment_of($node, 'd', 2);
ok(-e segment_file($pending), 'the uncommitted version has a segment');
$writer->query('ROLLBACK');
both_see('alpha', 'after ROLLBACK');
leaves_no_trace('ROLLBACK of a publish');
ok(!-e segment_file($pending), 'ROLLBACK removes the segment of the version');

$writer->query('BEGIN');
$writer->query(q{SELECT acdat.publish('fresh', ARRAY['beta'])});
is($writer->query(q{SELECT acdat.contains('beta', 'fresh')}),
	't', 'the transaction can use a dictionary it created');
like($other->error(q{SELECT acdat.contains('beta', 'fresh')}),
	qr/ERROR:  42704: dictionary "fresh" does not exist/,
	'a dictionary created by an open transaction does not exist for others');
$writer->query('ROLLBACK');
like($writer->error(q{SELECT acdat.contains('beta', 'fresh')}),
	qr/ERROR:  42704:/, 'after ROLLBACK it does not exist for its creator either');
leaves_no_trace('ROLLBACK of a first publish');

$writer->query('BEGIN');
$writer->query(q{SELECT acdat.publish('d', ARRAY['beta'])});
$writer->error('SELECT 1/0');
$writer->query('COMMIT');
both_see('alpha', 'after a failed transaction');
leaves_no_trace('a failed transaction');

$writer->query('BEGIN');
$writer->query(q{SELECT acdat.publish('d', ARRAY['beta'])});
sql($node, 'postgres', 'SELECT pg_terminate_backend(' . $writer->pid . ')');
ok($node->poll_query_until('postgres',
		'SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = ' . $writer->pid),
	'a publisher in a transaction can be terminated');
$writer = session($node, 'postgres');
both_see('alpha', 'after the end of a publisher');
leaves_no_trace('the end of a publisher');

# ---- ROLLBACK TO SAVEPOINT ----

$writer->query('BEGIN');
$writer->query('SAVEPOINT s');
$writer->query(q{SELECT acdat.publish('d', ARRAY['gamma'])});
answer_is($writer, 'd', \@words, 'gamma', 'a savepoint sees its own publish');
$writer->query('ROLLBACK TO s');
answer_is($writer, 'd', \@words, 'alpha',
	'after ROLLBACK TO SAVEPOINT the transaction sees the old version again');
answer_is($other, 'd', \@words, 'alpha',
	'after ROLLBACK TO SAVEPOINT another session still sees the old version');
ok(wait_for_states($node, 'd', '1:live'),
	'ROLLBACK TO SAVEPOINT removes the state while the transaction is open');
answer_is($writer, 'd', \@words, 'alpha', 'the open transaction goes on');
ok(wait_for_segments($node, $segments_before),
	'ROLLBACK TO SAVEPOINT removes the segment while the transaction is open');
$writer->query('COMMIT');
both_see('alpha', 'after COMMIT of the rest');
leaves_no_trace('ROLLBACK TO SAVEPOINT of a publish');

$writer->query('BEGIN');
$writer->query(q{SELECT acdat.publish('d', ARRAY['beta'])});
$writer->query('SAVEPOINT s');
is($writer->query(q{SELECT acdat.publish('d', ARRAY['gamma'])}),
	3, 'a second publish in a transaction returns one more version');
answer_is($writer, 'd', \@words, 'gamma', 'the inner publish is the newer one');
$writer->query('ROLLBACK TO s');
answer_is($writer, 'd', \@words, 'beta',
	'after ROLLBACK TO SAVEPOINT the outer publish counts again');
$writer->query('SAVEPOINT s2');
is($writer->query(q{SELECT acdat.publish('d', ARRAY['delta'])}),
	3, 'the number of a version that was rolled back is used again');
$writer->query('RELEASE s2');
answer_is($other, 'd', \@words, 'alpha', 'nothing of it is visible before COMMIT');
$writer->query('COMMIT');
both_see('delta', 'after COMMIT of a released savepoint');
is(sql($node, 'postgres', q{SELECT string_agg(version::text, ' ' ORDER BY version)
		FROM acdat.versions WHERE name = 'd'}),
	'1 2 3', 'exactly the versions that were not rolled back are kept');
ok(wait_for_states($node, undef, 'd:3:live'),
	'the registry keeps only the newest version after COMMIT');

# ---- drop, rename, set_reader ----

# Each change, undone both ways; seen is a statement that tells whether the
# change is in force for the session that made it.
my %change = (
	drop => [
		q{SELECT acdat.drop_dictionary('d')},
		q{SELECT count(*) FROM acdat.dictionaries WHERE name = 'd'}, 1, 0
	],
	rename => [
		q{SELECT acdat.rename_dictionary('d', 'e')},
		q{SELECT count(*) FROM acdat.dictionaries WHERE name = 'd'}, 1, 0
	],
	set_reader => [
		q{SELECT acdat.set_reader('d', 'reader')},
		q{SELECT coalesce(reader, '') FROM acdat.dictionaries WHERE name = 'd'},
		'', 'reader'
	]);

remember();
foreach my $name (sort keys %change)
{
	my ($statement, $seen, $before, $after) = @{ $change{$name} };

	foreach my $savepoint (0, 1)
	{
		my $undo = $savepoint ? 'ROLLBACK TO SAVEPOINT' : 'ROLLBACK';

		$writer->query('BEGIN');
		$writer->query('SAVEPOINT s') if $savepoint;
		$writer->query($statement);
		is($writer->query($seen), $after,
			"$name before $undo is in force for its own transaction");
		answer_is($other, 'd', \@words, 'delta',
			"$name before $undo does not concern another session");
		like($reader->error(q{SELECT acdat.contains('x', 'd')}),
			qr/ERROR:  42501: permission denied for dictionary "d"/,
			"$name before $undo does not concern the right to scan");
		if ($savepoint)
		{
			$writer->query('ROLLBACK TO s');
			answer_is($writer, 'd', \@words, 'delta',
				"$name is undone in the open transaction by $undo");
			$writer->query('COMMIT');
		}
		else
		{
			$writer->query('ROLLBACK');
		}
		is($writer->query($seen), $before, "$name is undone by $undo");
		both_see('delta', "after $undo of $name");
		like($reader->error(q{SELECT acdat.contains('x', 'd')}),
			qr/ERROR:  42501:/, "after $undo of $name rights are as before");
		leaves_no_trace("$undo of $name");
	}
}

# The same, committed: the next statement of every session follows.
$writer->query('BEGIN');
$writer->query(q{SELECT acdat.set_reader('d', 'reader')});
$writer->query(q{SELECT acdat.rename_dictionary('d', 'e')});
like($writer->error(q{SAVEPOINT s; SELECT acdat.contains('x', 'd')}),
	qr/ERROR:  42704:/, 'a renamed dictionary has lost its name for its own transaction');
$writer->query('ROLLBACK TO s');
answer_is($writer, 'e', \@words, 'delta', 'and answers to the new one');
$writer->query('COMMIT');
answer_is($reader, 'e', \@words, 'delta',
	'the new name and the new reader count for the next statement of the reader');
like($other->error(q{SELECT acdat.contains('x', 'd')}),
	qr/ERROR:  42704:/, 'the old name is gone for the next statement of others');
$writer->query('BEGIN');
$writer->query(q{SELECT acdat.drop_dictionary('e')});
answer_is($other, 'e', \@words, 'delta', 'a drop in an open transaction is not seen by others');
$writer->query('COMMIT');
foreach my $session ($writer, $other, $reader)
{
	like($session->error(q{SELECT acdat.contains('x', 'e')}),
		qr/ERROR:  42704:/,
		'after COMMIT of a drop the next statement of each session fails');
}
is(sql($node, 'postgres', 'SELECT count(*) FROM acdat.dictionary_version'),
	0, 'a drop takes all versions with it');
ok(wait_for_states($node, undef, ''), 'a drop empties the registry');

# ---- COMMIT ----

publish($node, 'postgres', 'd', ['alpha'], reader => quote_text('public'));
my @sessions = ($writer, $other, $reader, map { session($node, 'postgres') } 1 .. 3);
my $late = 0;

foreach my $round (1 .. 25)
{
	my $word = $words[ $round % 4 ];

	$writer->query('BEGIN') if $round % 2;
	$writer->query("SELECT acdat.publish('d', ARRAY['$word'])");
	$writer->query('COMMIT') if $round % 2;
	foreach my $session (@sessions)
	{
		$late++ if $session->query(answer('d', @words)) ne $word;
	}
}
is($late, 0,
	'after each of 25 commits the very next statement of each of 6 sessions uses the new version');
ok(wait_for_states($node, undef, 'd:26:live'),
	'of 26 versions one is left in the registry though sessions once used them all');
$_->quit foreach splice @sessions, 3;

# ---- One statement, one version ----

is($writer->query(q{SELECT acdat.contains('beta', 'd'), acdat.publish('d', ARRAY['alpha']),
		acdat.contains('beta', 'd')}),
	't|27|t', 'a statement that publishes goes on with the version it began with');
both_see('alpha', 'after a statement that published');

# ---- Two publishers ----

$writer->query('BEGIN');
$writer->query(q{SELECT acdat.publish('d', ARRAY['beta'])});
$other->send_query(q{SELECT acdat.publish('d', ARRAY['gamma'])});
ok(wait_for_lock($node, $other), 'a second publish of the same name waits for the first');
$writer->query('COMMIT');
is(($other->result)[0], 29, 'it follows the first one once that is committed');
both_see('gamma', 'after two publishes, the second of which waited');

$writer->query('BEGIN');
$writer->query(q{SELECT acdat.publish('d', ARRAY['beta'])});
$other->send_query(q{SELECT acdat.publish('d', ARRAY['alpha'])});
ok(wait_for_lock($node, $other), 'a publish waits for one that will be rolled back');
$writer->query('ROLLBACK');
is(($other->result)[0], 30, 'it takes the number that was rolled back');
both_see('alpha', 'after a publish that waited for a rolled back one');

$writer->query('BEGIN');
is($writer->query(q{SELECT acdat.publish('twice', ARRAY['beta'])}),
	1, 'a name is published for the first time');
$other->send_query(q{SELECT acdat.publish('twice', ARRAY['gamma'])});
ok(wait_for_lock($node, $other), 'a concurrent first publish of the same name waits');
$writer->query('COMMIT');
is(($other->result)[0], 2, 'and becomes the second version');
answer_is($writer, 'twice', \@words, 'gamma', 'with its own content');

$writer->query('BEGIN');
$writer->query(q{SELECT acdat.drop_dictionary('twice')});
$other->send_query(q{SELECT acdat.publish('twice', ARRAY['delta'])});
ok(wait_for_lock($node, $other), 'a publish waits for a concurrent drop');
$writer->query('COMMIT');
is(($other->result)[0], 1, 'and creates the dictionary anew after it');
answer_is($writer, 'twice', \@words, 'delta', 'which then answers');

$writer->query('BEGIN');
$writer->query(q{SELECT acdat.publish('d', ARRAY['beta'])});
is($other->query(q{SELECT acdat.publish('twice', ARRAY['alpha'])}),
	2, 'a publish of another name does not wait');
$writer->query('ROLLBACK');
$writer->query(q{SELECT acdat.drop_dictionary('twice')});
ok(wait_for_states($node, undef, 'd:30:live'), 'only the dictionary that is left stays known');

# ---- PREPARE TRANSACTION ----

remember();
$writer->query('BEGIN');
$writer->query(q{SELECT acdat.publish('d', ARRAY['beta'])});
like($writer->error(q{PREPARE TRANSACTION 'p'}),
	qr/ERROR:  0A000: cannot PREPARE a transaction that has changed a dictionary/,
	'PREPARE TRANSACTION after a publish is refused');
both_see('alpha', 'after a refused PREPARE TRANSACTION');
leaves_no_trace('a refused PREPARE TRANSACTION');
$writer->query('BEGIN');
$writer->query(answer('d', @words));
is($writer->error(q{PREPARE TRANSACTION 'p'}),
	'', 'PREPARE TRANSACTION after a scan alone is allowed');
$writer->query(q{ROLLBACK PREPARED 'p'});

# ---- Cancelled publish ----

$writer->query(q{SET statement_timeout = '100ms'});
like($writer->error(q{SELECT acdat.publish('d',
		'SELECT md5(i::text) AS pattern FROM generate_series(1, 400000) i')}),
	qr/ERROR:  57014:/, 'a large publish can be cancelled');
$writer->query('RESET statement_timeout');
both_see('alpha', 'after a cancelled publish');
leaves_no_trace('a cancelled publish');

# ---- republish and rollback ----

$writer->query('CREATE TABLE terms (word text)');
$writer->query(q{INSERT INTO terms VALUES ('alpha')});
is(publish($node, 'postgres', 't', 'SELECT word AS pattern FROM terms'),
	1, 'a dictionary is published from a query');
$writer->query(q{INSERT INTO terms VALUES ('beta')});
answer_is($other, 't', \@words, 'alpha', 'changing its table does not change the dictionary');
is($writer->query(q{SELECT acdat.republish('t')}), 2, 'republish() makes a new version');
answer_is($other, 't', \@words, 'alpha beta', 'with what the query gives now');
$writer->query(q{BEGIN; DELETE FROM terms WHERE word = 'alpha'});
$writer->query(q{SELECT acdat.republish('t')});
answer_is($writer, 't', \@words, 'beta', 'republish() sees changes of its own transaction');
$writer->query('ROLLBACK');
answer_is($other, 't', \@words, 'alpha beta', 'and is undone by ROLLBACK');
$writer->query('BEGIN');
is($writer->query(q{SELECT acdat.rollback('t', 1)}), 3, 'rollback() makes a new version');
answer_is($writer, 't', \@words, 'alpha', 'with the content of the old one');
answer_is($other, 't', \@words, 'alpha beta', 'not visible to others before COMMIT');
$writer->query('COMMIT');
answer_is($other, 't', \@words, 'alpha', 'and visible after it');
like($writer->error(q{SELECT acdat.rollback('t', 99)}),
	qr/ERROR:  42704: version 99 of dictionary "t" does not exist/,
	'rollback() to a version that never was is refused');
is(publish($node, 'postgres', 't', ['delta'], keep_versions => 2), 4,
	'publish() can lower the number of versions that are kept');
is($writer->query(q{SELECT string_agg(version::text, ' ' ORDER BY version)
		FROM acdat.versions WHERE name = 't'}),
	'3 4', 'older versions are then removed');
is($writer->query(q{SELECT string_agg(pattern, ' ') FROM acdat.patterns('t', 3)}),
	'alpha', 'the patterns of a kept version can be read');

$_->quit foreach ($writer, $other, $reader);
$node->stop;
done_testing();
