# A hot standby answers with the same dictionaries, follows what is published
# on its primary, and keeps serving after promotion.

use strict;
use warnings;

use AcdatTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $primary = new_node('primary', init => { allows_streaming => 1 });
my @words = qw(alpha beta gamma delta);

sql($primary, 'postgres', 'CREATE ROLE reader LOGIN');
sql($primary, 'postgres', 'CREATE DATABASE second');
sql($primary, 'second', 'CREATE EXTENSION acdat_bgw');
publish($primary, 'postgres', 'd', ['alpha'], reader => quote_text('reader'));
publish($primary, 'postgres', 'rule', [ 'gamma', 'delta' ],
	cluster => 'true', reader => quote_text('public'));

# Versions up to the backup come with it, later ones by streaming.
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;

# The replay of what the primary has done so far is waited for, and then the
# dictionary's next look at the tables, at most naptime later.
sub standby_follows
{
	my ($database, $name, $expected) = @_;

	$primary->wait_for_catchup($standby, 'replay');
	return $standby->poll_query_until($database, answer($name, @words), $expected);
}

# ---- It answers ----

is(sql($standby, 'postgres', 'SELECT pg_is_in_recovery()'), 't', 'the standby is one');
is(sql($standby, 'postgres', answer('d', @words)), 'alpha',
	'the first statement on a standby gets the answer');
is(sql($standby, 'second', answer('rule', @words)), 'gamma delta',
	'so does that of another database with a cluster-wide dictionary');
is(sql($standby, 'postgres', answer('rule', @words)), 'gamma delta',
	'a cluster-wide dictionary answers on a standby');
is(sql($standby, 'postgres', q{SELECT acdat.contains('alpha', 'd')}, user => 'reader'),
	't', 'the reader may scan on a standby');
is(sql($standby, 'postgres', q{SELECT pattern FROM acdat.patterns('d')}), 'alpha',
	'the owner may read the patterns on a standby');

my $segment = segment_of($standby, 'd');
my $session = session($standby, 'postgres');
answer_is($session, 'd', \@words, 'alpha', 'a session on the standby scans');
is(mapping_permissions($session->pid, $segment), 'r--s',
	'with a read-only mapping as on a primary');

# ---- It follows ----

publish($primary, 'postgres', 'd', ['beta']);
ok(standby_follows('postgres', 'd', 'beta'), 'the standby follows a publish');
answer_is($session, 'd', \@words, 'beta', 'so does a session there');
ok(wait_for_states($standby, 'd', '2:live'), 'the superseded version goes on the standby');
ok(poll_until(sub { !-e segment_file($segment) }), 'with its segment');

publish($primary, 'postgres', 'fresh', ['gamma']);
$primary->wait_for_catchup($standby, 'replay');
is(sql($standby, 'postgres', answer('fresh', @words)), 'gamma',
	'a new dictionary answers as soon as its rows are there');

# A snapshot of the standby keeps its version.
$session->query('BEGIN ISOLATION LEVEL REPEATABLE READ');
answer_is($session, 'd', \@words, 'beta', 'a snapshot on the standby sees a version');
publish($primary, 'postgres', 'd', ['gamma']);
ok(standby_follows('postgres', 'd', 'gamma'), 'another session there moves on');
answer_is($session, 'd', \@words, 'beta', 'REPEATABLE READ keeps its version there');
$session->query('COMMIT');
answer_is($session, 'd', \@words, 'gamma', 'and moves on after its end');

# Statements that run all the while never fail, and never go back.
my @numbers = map { sprintf "word%02d", $_ } 1 .. 10;
my @seen = (0);
foreach my $number (@numbers)
{
	publish($primary, 'postgres', 'counter', [$number]);
	if ($number eq $numbers[0])
	{
		$primary->wait_for_catchup($standby, 'replay');
	}
	push @seen, substr($session->query(answer('counter', @numbers)), 4);
}
poll_until(sub {
		push @seen, substr($session->query(answer('counter', @numbers)), 4);
		$seen[-1] == 10 });
note "versions seen: @seen";
is($seen[-1], 10, 'a session on the standby comes to the last of ten publishes');
is(scalar(grep { $seen[$_] < $seen[ $_ - 1 ] } 1 .. $#seen), 0,
	'without ever going back or missing the dictionary');
sql($primary, 'postgres', q{SELECT acdat.drop_dictionary('counter')});

# Changes without a new version.
sql($primary, 'postgres', q{SELECT acdat.rename_dictionary('fresh', 'renamed')});
ok(standby_follows('postgres', 'renamed', 'gamma'), 'the standby follows a rename');
sql($primary, 'postgres', q{SELECT acdat.set_reader('d', NULL)});
$primary->wait_for_catchup($standby, 'replay');
ok(poll_until(sub { sql_error($standby, 'postgres', q{SELECT acdat.contains('x', 'd')},
			user => 'reader') =~ m/ERROR:  42501:/ }),
	'the standby follows a change of the reader');
sql($primary, 'postgres', q{SELECT acdat.drop_dictionary('renamed')});
$primary->wait_for_catchup($standby, 'replay');
ok(poll_until(sub { sql_error($standby, 'postgres', q{SELECT acdat.contains('x', 'renamed')})
			  =~ m/ERROR:  42704:/ }), 'the standby follows a drop');
ok(wait_for_states($standby, undef, 'd:3:live rule:1:live'),
	'the standby knows what the primary does');

# What is not committed does not arrive.
my $writer = session($primary, 'postgres');
$writer->query('BEGIN');
$writer->query(q{SELECT acdat.publish('d', ARRAY['delta'])});
publish($primary, 'postgres', 'later', ['alpha']);
ok(standby_follows('postgres', 'later', 'alpha'), 'the standby has replayed a later commit');
is(sql($standby, 'postgres', answer('d', @words)), 'gamma',
	'a publish in an open transaction of the primary is not seen on the standby');
$writer->query('ROLLBACK');
$writer->quit;
sql($primary, 'postgres', q{SELECT acdat.drop_dictionary('later')});

# ---- It refuses ----

like(sql_error($standby, 'postgres', q{SELECT acdat.publish('d', ARRAY['x'])}),
	qr/ERROR:  25006: cannot execute acdat\.publish\(\) during recovery/,
	'publish() on a standby is refused');
like(sql_error($standby, 'postgres', q{SELECT acdat.drop_dictionary('d')}),
	qr/ERROR:  25006:/, 'so is drop_dictionary()');

# ---- It restarts ----

$session->quit;
$standby->restart;
is(sql($standby, 'postgres', answer('d', @words)), 'gamma',
	'after a restart of the standby the first statement gets the answer');

# ---- It is promoted ----

$session = session($standby, 'postgres');
answer_is($session, 'd', \@words, 'gamma', 'a session is open when the standby is promoted');
$primary->wait_for_catchup($standby, 'replay');
$primary->stop;
$standby->promote;
is(sql($standby, 'postgres', 'SELECT pg_is_in_recovery()'), 'f', 'it is no standby any more');
answer_is($session, 'd', \@words, 'gamma', 'a session goes on over the promotion');
is(sql($standby, 'postgres', answer('d', @words)), 'gamma',
	'a new session is served at once after the promotion');
is(sql($standby, 'postgres', answer('rule', @words)), 'gamma delta',
	'also with a cluster-wide dictionary');
is(publish($standby, 'postgres', 'd', ['delta']), 4,
	'after the promotion it can publish the next version');
answer_is($session, 'd', \@words, 'delta', 'which the next statement of a session uses');
is(sql($standby, 'postgres', q{SELECT acdat.rollback('d', 3)}), 5,
	'versions published on the former primary can be restored');
answer_is($session, 'd', \@words, 'gamma', 'and are used');
ok(wait_for_states($standby, 'd', '5:live'), 'superseded versions go after the promotion');
$session->query('BEGIN');
$session->query(q{SELECT acdat.publish('d', ARRAY['alpha'])});
$session->query('ROLLBACK');
answer_is($session, 'd', \@words, 'gamma', 'and a publish can be rolled back');
$session->quit;

$standby->stop;
done_testing();
