# Settings of the server that bound dictionaries and background processes.

use strict;
use warnings;

use AcdatTest;
use Test::More;

my $large = q($$SELECT md5(i::text) AS pattern FROM generate_series(1, 60000) i$$);
my $count = q(SELECT acdat.count_matches(md5('1') || md5('60000') || md5('60001'), 'large'));

sub publish_large
{
	my ($node) = @_;

	return sql($node, 'postgres', "SELECT acdat.publish('large', $large)");
}

# ---- max_dictionaries ----

my $node = new_node('few', conf => "acdat_bgw.max_dictionaries = 2\n");

publish($node, 'postgres', $_, ['alpha']) foreach 'd0', 'd1';
like(sql_error($node, 'postgres', q(SELECT acdat.publish('d2', ARRAY['alpha']))),
	qr/ERROR:  53400: .*\nDETAIL:.* 2\.\nHINT:.*acdat_bgw\.max_dictionaries/,
	'one dictionary more than there is room for is an error that names the setting');
is(sql($node, 'postgres', 'SELECT count(*) FROM acdat.dictionary'), 2, 'and is not stored');
is(publish($node, 'postgres', 'd0', ['beta']), 2, 'those that are there can have new versions');
is(sql($node, 'postgres', answer('d0', 'alpha', 'beta')), 'beta', 'and answer');

# An old snapshot keeps every version that is published meanwhile.
my $reader = session($node, 'postgres');
my $error = '';
my $versions = 2;

$reader->query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
while ($versions < 100 && $error eq '')
{
	$error = sql_error($node, 'postgres', "SELECT acdat.publish('d0', ARRAY['version$versions'])");
	$versions++ if $error eq '';
}
like($error, qr/ERROR:  53400: .*\nDETAIL:.*snapshot.*\nHINT:.*acdat_bgw\.max_dictionaries/,
	'more versions than there is room for are an error that names the setting');
is(sql($node, 'postgres', answer('d0', 'beta', 'version' . ($versions - 1))),
	'version' . ($versions - 1), 'the last one that had room answers');
sql($node, 'postgres', "BEGIN; SELECT acdat.drop_dictionary('d0'); ROLLBACK") foreach 1 .. 50;
sql($node, 'postgres', "SELECT acdat.drop_dictionary('$_')") foreach 'd0', 'd1';
like(sql_error($node, 'postgres', answer('d0', 'alpha')), qr/42704/,
	'a dictionary can be dropped when the registry is full');
is($reader->query(answer('d0', 'alpha', 'beta')), 'beta', 'the old snapshot has its version');
$reader->query('COMMIT');
$reader->quit;
ok(poll_until(sub {
		sql_error($node, 'postgres', q(SELECT acdat.publish('d2', ARRAY['alpha']))) eq '' }),
	'and there is room again');
$node->stop;

# ---- max_compilers ----

$node = new_node('alone', conf => "acdat_bgw.max_compilers = 0\n");
is(publish_large($node), 1, 'without compilers a large dictionary is compiled');
is(sql($node, 'postgres', $count), 2, 'and answers');
$node->stop;

# ---- max_worker_processes ----

# The launcher, the server's own launcher of logical replication, and one more:
# enough to load, and then taken away by a parallel query.
$node = new_node('crowded',
	conf => "max_worker_processes = 3\nacdat_bgw.naptime = 1h\n");
publish($node, 'postgres', 'small', ['alpha']);

my $sleeper = session($node, 'postgres');

# The setting has another name since 16.
$sleeper->query(q(SELECT set_config(name, 'on', false) FROM pg_settings
	WHERE name IN ('force_parallel_mode', 'debug_parallel_query')));
ok(poll_until(sub {
		$sleeper->send_query('SELECT pg_sleep(600)');
		$node->poll_query_until('postgres',
			q(SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'));
		return 1
		  if sql($node, 'postgres',
			q(SELECT backend_type FROM pg_stat_activity WHERE wait_event = 'PgSleep')) eq 'parallel worker';
		sql($node, 'postgres', 'SELECT pg_cancel_backend(' . $sleeper->pid . ')');
		$sleeper->result;
		return 0 }),
	'no background worker is free');
is(publish_large($node), 1, 'a large dictionary is compiled all the same');
is(sql($node, 'postgres', $count), 2, 'and answers');
sql($node, 'postgres', 'SELECT pg_cancel_backend(' . $sleeper->pid . ')');
$sleeper->result;
$sleeper->quit;

# Loading takes a worker.
$node->append_conf('postgresql.conf', 'max_worker_processes = 2');
$node->restart;
like(sql_error($node, 'postgres',
		q(SET acdat_bgw.load_timeout = '100ms'; SELECT acdat.redact('alpha', 'small'))),
	qr/ERROR:  55000: .*\nHINT:.*acdat_bgw\.load_timeout.*max_worker_processes/,
	'without a worker to load a dictionary no text is passed through');
$node->append_conf('postgresql.conf', 'max_worker_processes = 3');
$node->restart;
is(sql($node, 'postgres', answer('small', 'alpha', 'beta')), 'alpha', 'with one it answers');
$node->stop;

done_testing();
