# Attached dictionaries: a change of a table republishes by itself.

use strict;
use warnings;

use AcdatTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('main', init => { allows_streaming => 1 },
	conf => "max_prepared_transactions = 2\n");
my @words = qw(alpha beta gamma delta);

sub attachment
{
	my ($column, %option) = @_;

	return sql($node, 'postgres',
		"SELECT $column FROM acdat.attachments WHERE name = 'd'", %option);
}

sub answers
{
	my ($expected) = @_;

	return $node->poll_query_until('postgres', answer('d', @words), $expected);
}

sub settled
{
	return $node->poll_query_until('postgres',
		"SELECT bool_and(state = 'current') FROM acdat.attachments WHERE name = 'd'");
}

sub versions
{
	return sql($node, 'postgres', "SELECT version FROM acdat.dictionaries WHERE name = 'd'");
}

sql($node, 'postgres', <<'SQL');
CREATE ROLE boss LOGIN;
CREATE ROLE moderator LOGIN;
CREATE TABLE terms (pattern text PRIMARY KEY, tag text);
ALTER TABLE terms OWNER TO boss;
GRANT SELECT, INSERT, UPDATE, DELETE ON terms TO moderator;
INSERT INTO terms VALUES ('alpha');
GRANT EXECUTE ON FUNCTION acdat.publish(text, text, text, text, text, text, text, boolean, boolean, integer) TO boss;
SQL
sql($node, 'postgres',
	q{SELECT acdat.publish('d', 'SELECT pattern FROM terms ORDER BY 1', reader => 'public')},
	user => 'boss');
sql($node, 'postgres', q{SELECT acdat.publish('fixed', ARRAY['x'])}, user => 'postgres');

# ---- Who may attach what ----

like(sql_error($node, 'postgres', q{SELECT acdat.attach('d', 'terms')}, user => 'moderator'),
	qr/42501: must be owner of dictionary/, 'only the owner may attach a dictionary');
like(sql_error($node, 'postgres', q{SELECT acdat.attach('d', 'pg_class')}, user => 'boss'),
	qr/42501: permission denied for table pg_class/, 'to a table for which he could make a trigger');
like(sql_error($node, 'postgres', q{SELECT acdat.attach('fixed', 'terms')}),
	qr/55000: .*not published from a query.*\n.*HINT/s, 'an array of patterns cannot be republished');
like(sql_error($node, 'postgres', q{SELECT acdat.attach('none', 'terms')}),
	qr/42704/, 'a dictionary that is not there cannot be attached');
like(sql_error($node, 'postgres', q{CREATE TEMP TABLE t (pattern text); SELECT acdat.attach('d', 't')}),
	qr/42809: .*temporary/, 'a temporary table cannot be followed');
like(sql_error($node, 'postgres', "SELECT acdat.attach('d', 'terms', '$_')"),
	qr/22023: .*debounce.*\n.*HINT/s, "a delay of $_ is out of range")
  foreach '-1 s', '2 hours', '1 day';
like(sql_error($node, 'postgres',
		q{CREATE TRIGGER mine AFTER INSERT ON terms EXECUTE FUNCTION acdat.attached_change('x', '1')},
		user => 'boss'),
	qr/42501/, 'the trigger function is not for everybody');
like(sql_error($node, 'postgres', <<'SQL'), qr/39P01: .*attach/, 'nor does it take other arguments');
BEGIN;
CREATE TRIGGER mine AFTER INSERT ON terms EXECUTE FUNCTION acdat.attached_change('x', '1');
INSERT INTO terms VALUES ('never');
SQL

# ---- INSERT; COMMIT; ----

sql($node, 'postgres', q{SELECT acdat.attach('d', 'terms', '50 ms')}, user => 'boss');
is(attachment('source, debounce, state, error IS NULL'), 'terms|00:00:00.05|current|t',
	'the view shows what is attached');
sql($node, 'postgres', q{INSERT INTO terms VALUES ('beta')}, user => 'moderator');
ok(answers('alpha beta'), 'after an insert the dictionary follows');
ok(settled(), 'and the view says so');
is(sql($node, 'postgres', q{SELECT publisher FROM acdat.versions WHERE name = 'd' AND current}),
	'boss', 'the owner of the dictionary is the publisher, not the moderator');
sql($node, 'postgres', q{UPDATE terms SET pattern = 'gamma' WHERE pattern = 'beta'}, user => 'moderator');
ok(answers('alpha gamma'), 'after an update');
sql($node, 'postgres', q{DELETE FROM terms WHERE pattern = 'alpha'}, user => 'moderator');
ok(answers('gamma'), 'after a delete');
sql($node, 'postgres', q{BEGIN; TRUNCATE terms; INSERT INTO terms VALUES ('alpha'); COMMIT});
ok(answers('alpha'), 'after a truncate');
ok(settled(), 'all is published');

# ---- What does not republish ----

my $before = versions();

sql($node, 'postgres', q{BEGIN; INSERT INTO terms VALUES ('delta'); ROLLBACK});
sql($node, 'postgres', q{UPDATE terms SET tag = 'x'});
ok($node->poll_query_until('postgres',
		q{SELECT ended_at > changed_at FROM acdat.attachments WHERE name = 'd'}),
	'a change that leaves the query its result is looked at');
is(versions(), $before, 'and makes no version, nor does a rollback');

# ---- Debounce ----

sql($node, 'postgres', q{SELECT acdat.attach('d', 'terms', '1 hour')});
sql($node, 'postgres', "INSERT INTO terms VALUES ('many$_')") foreach 1 .. 20;
is(attachment(q{state, due_at - changed_at > '59 min', version IS NOT NULL}), 'waiting|t|t',
	'changes wait for the delay to pass');
is(versions(), $before, 'meanwhile nothing is published');
sql($node, 'postgres', q{SELECT acdat.attach('d', 'terms', '0')});
sql($node, 'postgres', q{INSERT INTO terms VALUES ('beta')});
ok(answers('alpha beta'), 'a change with a shorter delay is published at its time');
ok(settled(), 'and all before it');
is(versions(), $before + 1, 'with one version');

# Deadlock-free and complete with many writers at a time.
my @sessions = map { session($node, 'postgres') } 1 .. 4;

foreach my $round (1 .. 10)
{
	$sessions[$_]->send_query("INSERT INTO terms VALUES ('w$round-$_')") foreach 0 .. 3;
	$sessions[$_]->result foreach 0 .. 3;
}
$_->quit foreach @sessions;
ok($node->poll_query_until('postgres',
		q{SELECT acdat.contains('w10-0', 'd') AND acdat.contains('w10-3', 'd') AND acdat.contains('w1-1', 'd')}),
	'what several sessions insert at a time arrives');
ok(settled(), 'and settles');
sql($node, 'postgres', q{DELETE FROM terms WHERE pattern LIKE 'w%' OR pattern LIKE 'many%'});

# ---- Errors ----

sql($node, 'postgres', q{CREATE TABLE source (pattern text); INSERT INTO source VALUES ('alpha')});
sql($node, 'postgres', q{GRANT SELECT ON source TO boss});
sql($node, 'postgres', q{SELECT acdat.publish('d', 'SELECT pattern FROM public.source')}, user => 'boss');
sql($node, 'postgres', q{SELECT acdat.attach('d', 'source', '0')});
sql($node, 'postgres', q{INSERT INTO source VALUES (NULL)});
ok($node->poll_query_until('postgres',
		q{SELECT bool_and(state = 'failed') FROM acdat.attachments WHERE name = 'd'}),
	'a list that cannot be published shows as failed');
is(sql($node, 'postgres', answer('d', @words)), 'alpha', 'the former version keeps answering');
like(attachment('error', user => 'boss'), qr/is null/, 'the owner sees the error');
unlike(attachment('error', user => 'moderator'), qr/null/, 'others do not');
unlike(slurp_file($node->logfile), qr/pattern in row \d+ is null/, 'nor does the log show it');
like(slurp_file($node->logfile), qr/could not publish an attached dictionary.*\n.*SQLSTATE: 22004/,
	'but its code');
sql($node, 'postgres', q{DELETE FROM source WHERE pattern IS NULL; INSERT INTO source VALUES ('delta')});
ok(answers('alpha delta'), 'a change that repairs the list is published');
ok(settled(), 'and the error is gone');
is(attachment('DISTINCT error IS NULL'), 't', 'from the view, too');

# ---- Other ways to end a transaction ----

like(sql_error($node, 'postgres', q{BEGIN; INSERT INTO source VALUES ('x'); PREPARE TRANSACTION 'p'}),
	qr/0A000/, 'such a change cannot be prepared');
sql($node, 'postgres', q{BEGIN; SAVEPOINT s; INSERT INTO source VALUES ('gamma'); RELEASE s; COMMIT});
ok(answers('alpha gamma delta'), 'a change in a subtransaction counts');

# ---- Crash and promotion ----

ok(settled(), 'all is published');
sql($node, 'postgres', q{SELECT acdat.attach('d', 'source', '1 hour')});
sql($node, 'postgres', q{INSERT INTO source VALUES ('beta')});
$node->stop('immediate');
$node->start;
ok(answers('alpha beta gamma delta'), 'a change whose republishing a crash prevented is made up for');

$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->start;
sql($node, 'postgres', q{DELETE FROM source WHERE pattern = 'beta'});
$node->wait_for_catchup($standby, 'replay');
is(sql($standby, 'postgres', answer('d', @words)), 'alpha beta gamma delta',
	'a standby waits for its primary');
$node->stop('immediate');
$standby->promote;
ok($standby->poll_query_until('postgres', answer('d', @words), 'alpha gamma delta'),
	'when it is promoted it makes up for what the primary did not come to');
$standby->stop;
$node->start;

# ---- A publisher that is ended ----

sql($node, 'postgres', q{CREATE FUNCTION slow() RETURNS text LANGUAGE plpgsql AS
	$$BEGIN PERFORM pg_advisory_xact_lock_shared(42); RETURN 'slow'; END$$});
sql($node, 'postgres', q{SELECT acdat.publish('d', 'SELECT pattern FROM public.source UNION ALL SELECT public.slow()')},
	user => 'boss');
sql($node, 'postgres', q{SELECT acdat.attach('d', 'source', '0')});
my $blocker = session($node, 'postgres');
$blocker->query('SELECT pg_advisory_lock(42)');
sql($node, 'postgres', q{INSERT INTO source VALUES ('beta') ON CONFLICT DO NOTHING});

my $publisher = q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'acdat_bgw publisher' AND wait_event = 'advisory'};
my $pid;

ok(poll_until(sub { ($pid = sql($node, 'postgres', $publisher)) ne '' }), 'a publisher waits for a lock');
is(attachment(q{string_agg(DISTINCT state, ' ')}), 'publishing', 'the view says what it is doing');
sql($node, 'postgres', "SELECT pg_terminate_backend($pid)");
ok(poll_until(sub { my $next = sql($node, 'postgres', $publisher); $next ne '' && $next != $pid }),
	'when it is ended another one takes over');
$blocker->query('SELECT pg_advisory_unlock(42)');
ok(answers('alpha beta gamma delta'), 'and publishes');
ok(settled(), 'to the end');
$blocker->quit;

# ---- Dump ----

sql($node, 'postgres', 'CREATE DATABASE copy TEMPLATE template0');
my $dump = PostgreSQL::Test::Utils::tempdir . '/dump.sql';

$node->command_ok([ 'pg_dump', '-f', $dump, 'postgres' ], 'a database with attachments is dumped');
$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', $dump, 'copy' ], 'and restored');
sql($node, 'copy', q{DELETE FROM source WHERE pattern = 'alpha'});
ok($node->poll_query_until('copy', answer('d', @words), 'beta gamma delta'),
	'the copy follows its own table');
is(sql($node, 'postgres', answer('d', @words)), 'alpha beta gamma delta', 'the original does not');

# ---- Detaching ----

sql($node, 'postgres', q{SELECT acdat.rename_dictionary('d', 'e')});
is(sql($node, 'postgres', q{SELECT string_agg(name || ' ' || source, ', ' ORDER BY source::text) FROM acdat.attachments}),
	'e source, e terms', 'attachments outlive a new name');
like(sql_error($node, 'postgres', q{SELECT acdat.detach('e', 'terms')}, user => 'moderator'),
	qr/42501/, 'not everybody may detach');
sql($node, 'postgres', q{SELECT acdat.detach('e', 'terms')}, user => 'boss');
like(sql_error($node, 'postgres', q{SELECT acdat.detach('e', 'terms')}), qr/42704: .*not attached/,
	'what is not attached cannot be detached');
is(sql($node, 'postgres', 'SELECT source FROM acdat.attachments'), 'source', 'the other one stays');
sql($node, 'postgres', q{SELECT acdat.drop_dictionary('e')});
is(sql($node, 'postgres', q{SELECT count(*) FROM pg_trigger WHERE tgname LIKE 'acdat%' AND NOT tgisinternal AND tgrelid = 'source'::regclass}),
	0, 'a dictionary that is dropped takes its triggers along');
$node->stop;
done_testing();
