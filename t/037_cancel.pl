# Statements that are cancelled, at any moment of theirs, end and leave nothing
# behind.
#
# A statement is run with longer and longer statement_timeouts until one is
# enough, so that each of its phases is hit.  How soon after the timeout it
# ended is printed.

use strict;
use warnings;

use AcdatTest;
use Test::More;
use Time::HiRes qw(time);

# Patterns and bytes of the large value; more on demand.
my $patterns = $ENV{ACDAT_CANCEL_PATTERNS} || 40_000;
my $megabytes = $ENV{ACDAT_CANCEL_MEGABYTES} || 25;

# Statements until one is not cancelled, at most.
my $steps = 40;

my $node = new_node('main');
my $session = session($node, 'postgres');

# ---- A statement with all timeouts ----

# What is left of publishing: registry, jobs, segments and rows.
sub remains
{
	return sql($node, 'postgres', <<'SQL') . ' ' . join(',', cluster_segments($node));
SELECT (SELECT string_agg(dictionary || version || state, ',' ORDER BY dictionary, version) FROM acdat.generations)
	|| ' ' || (SELECT count(*) FROM acdat.worker WHERE kind <> 'launcher')
	|| ' ' || (SELECT count(*) FROM acdat.dictionary_version)
SQL
}

# Run a statement with a timeout in ms, in a transaction that is rolled back.
# Returns its error and how long it took longer than the timeout, in ms.
sub with_timeout
{
	my ($statement, $timeout) = @_;
	my ($begin, $error);

	$session->query("BEGIN; SET LOCAL statement_timeout = $timeout");
	$begin = time;
	$error = $session->error($statement);
	my $late = 1000 * (time - $begin) - $timeout;

	$session->query('ROLLBACK');
	return ($error, $late);
}

# The same with several timeouts, until one is enough.
sub with_timeouts
{
	my ($name, $statement, @timeouts) = @_;
	my ($cancelled, $latest) = (0, 0);

	foreach my $timeout (@timeouts)
	{
		my ($error, $late) = with_timeout($statement, $timeout);

		last if $error eq '';
		like($error, qr/canceling statement due to statement timeout/, "$name is cancelled after $timeout ms");
		$cancelled++;
		$latest = $late if $late > $latest;
	}
	ok($cancelled > 0, "$name can be cancelled");
	note(sprintf '%s: %d times, at most %d ms late', $name, $cancelled, $latest);
}

# ---- Publishing ----

publish($node, 'postgres', 'd', ['alpha']);
$session->query("CREATE TABLE terms AS SELECT i AS id, md5(i::text) AS pattern FROM generate_series(1, $patterns) i");

foreach my $statement (
	[ 'publish()', q{SELECT acdat.publish('d', 'SELECT pattern, id FROM terms')} ],
	[ 'publish() of a new dictionary', q{SELECT acdat.publish('new', 'SELECT pattern, id FROM terms')} ])
{
	my $before = remains();
	my $after = '';

	with_timeouts(@$statement, map { $_ * int($patterns / 5000) } 1 .. $steps);

	ok(poll_until(sub { ($after = remains()) eq $before }), 'which leaves nothing behind')
	  or diag("before: $before\nafter:  $after");
	is(sql($node, 'postgres', answer('d', 'alpha', 'beta')), 'alpha', 'the old version answers');
}

# While it waits for another publisher.
my $other = session($node, 'postgres');

$other->query(q{BEGIN; SELECT acdat.publish('d', ARRAY['beta'])});
like((with_timeout(q{SELECT acdat.publish('d', ARRAY['gamma'])}, 50))[0],
	qr/statement timeout/, 'publish() is cancelled while it waits for another one');
$other->query('COMMIT');
is(sql($node, 'postgres', answer('d', 'alpha', 'beta', 'gamma')), 'beta', 'the other one is not disturbed');

# Cancelled and ended by another session.
sub publisher_in
{
	my ($end) = @_;
	my $pid = $session->pid;

	$session->send_query(q{SELECT acdat.publish('d', 'SELECT pattern, id FROM terms, LATERAL pg_sleep(id / 1e9)')});
	ok(poll_until(sub {
				sql($node, 'postgres', "SELECT state FROM pg_stat_activity WHERE pid = $pid") eq 'active' }),
		'a session publishes');
	return sql($node, 'postgres', "SELECT $end($pid)");
}

publisher_in('pg_cancel_backend');
like(($session->result)[1], qr/user request/, 'pg_cancel_backend() ends it');
publisher_in('pg_terminate_backend');
$session->quit;
ok(poll_until(sub { remains() =~ m/^d\d+live 0 / }), 'pg_terminate_backend() does, too, with nothing left behind');

# ---- Scanning one large value ----

$session = session($node, 'postgres');
publish($node, 'postgres', 'dense', [ 'a', 'ab', 'b' ]);
publish($node, 'postgres', 'sparse', [ 'needle', 'haystack' ]);
publish($node, 'postgres', 'folded', ['ab'], case_insensitive => "'unicode'", ignore => "'-'");
$session->query('CREATE TABLE large (value text, document json)');
$session->query("INSERT INTO large SELECT v, to_json(v) FROM repeat('ab need', $megabytes * 150000) v");
$session->query('ALTER TABLE large ALTER value SET STORAGE external');
$session->query('SET acdat_bgw.max_matches = 2147483647');
foreach my $call (
	q{contains(value, 'sparse')}, q{count_matches(value, 'sparse')}, q{count_matches(value, 'dense')},
	q{count_matches(value, 'folded')}, q{match_ids(value, 'dense')}, q{replace(value, 'dense')},
	q{redact(value, 'dense')}, q{redact(value, 'folded', 'fixed')}, q{redact(document, 'dense')})
{
	with_timeouts($call, "SELECT length(acdat.$call\::text) FROM large", 5, 20, 60, 150);
}
with_timeouts('matches()', q{SELECT count(*) FROM large, acdat.matches(value, 'dense')}, 20, 150);
is($session->query(q{SELECT acdat.count_matches('ab', 'dense')}), 3, 'the session goes on');

$session->quit;
$other->quit;
$node->stop;
done_testing();
