# acdat.stats beyond one session: parallel workers, statements that go on,
# sessions that are terminated, the server log, other databases, restarts.

use strict;
use warnings;

use AcdatTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $ROWS = 5000;
my $node = new_node('stats');

sub counts
{
	my ($name) = @_;

	return sql($node, 'postgres',
		"SELECT calls || ' ' || bytes || ' ' || matches FROM acdat.stats
		 WHERE database = current_database() AND dictionary = " . quote_text($name));
}

sub reset_counts
{
	return sql($node, 'postgres', 'SELECT acdat.stats_reset()');
}

publish($node, 'postgres', 'd', ['alpha'], reader => quote_text('public'));
publish($node, 'postgres', 'everywhere', ['beta'], cluster => 'true', reader => quote_text('public'));
is(counts('d'), '0 0 0', 'a new dictionary was not used');

# ---- Parallel workers ----

sql($node, 'postgres', qq{
	CREATE TABLE document (body text) WITH (parallel_workers = 2);
	INSERT INTO document SELECT CASE WHEN i % 5 < 2 THEN 'alpha' ELSE 'omega' END
	FROM generate_series(1, $ROWS) i;
	VACUUM ANALYZE document});
my $session = parallel_session($node, 'postgres');
my $count = q{SELECT count(*) FROM document WHERE acdat.contains(body, 'd')};
is(workers_launched($session, $count), 2, 'two workers take part');
reset_counts();
is($session->query($count), $ROWS * 2 / 5, 'they find what there is');
is(counts('d'), join(' ', $ROWS, 5 * $ROWS, $ROWS * 2 / 5), 'their counts add up');

# ---- A statement that goes on ----

reset_counts();
$session->send_query(
	q{SELECT count(*) FROM (SELECT generate_series(1, 100000000000) AS i) s WHERE acdat.contains('alpha' || i, 'd')});
ok(poll_until(sub { (split / /, counts('d'))[0] > 0 }), 'a statement that goes on shows');
ok( poll_until(sub {
		sql($node, 'postgres', 'SELECT pg_cancel_backend(' . $session->pid . ')');
		return sql($node, 'postgres',
			"SELECT state = 'idle' FROM pg_stat_activity WHERE pid = " . $session->pid) eq 't';
	}),
	'it can be cancelled');
$session->result;

# ---- Sessions that end ----

reset_counts();
$session->query('BEGIN');
$session->query(q{SELECT acdat.contains('alpha', 'd')});
is(counts('d'), '0 0 0', 'an open transaction keeps its counts');
sql($node, 'postgres', 'SELECT pg_terminate_backend(' . $session->pid . ')');
ok(poll_until(sub { counts('d') eq '1 5 1' }), 'a session that is terminated adds them up');
$session->quit;

# ---- Other databases, and the server log ----

sql($node, 'postgres', 'CREATE DATABASE other');
sql($node, 'other', 'CREATE EXTENSION acdat_bgw');
publish($node, 'other', 'd', ['gamma']);
reset_counts();
sql($node, 'other', q{SELECT acdat.contains('beta', 'everywhere'), acdat.contains('gamma!', 'd')});
is(counts('everywhere'), '1 4 1', 'scans from another database count');
is( sql($node, 'other',
		q{SELECT string_agg(database || ' ' || calls || ' ' || bytes, ', ' ORDER BY database)
		  FROM acdat.stats WHERE dictionary = 'd'}),
	'other 1 6, postgres 0 0',
	'dictionaries of one name in two databases are counted apart');
like(sql_error($node, 'postgres', q{SELECT acdat.stats_reset('gamma')}), qr/42704/,
	'there must be a dictionary to begin anew for');

reset_counts();
sql($node, 'postgres', q{ALTER SYSTEM SET acdat_bgw.log_dictionary = 'everywhere'});
sql($node, 'postgres', 'SELECT pg_reload_conf()');
ok( poll_until(sub {
		sql_error($node, 'postgres', q{SELECT 'beta' || 1/0});
		return (split / /, counts('everywhere'))[2] > 0;
	}),
	'texts hidden in the server log count');
sql($node, 'postgres', 'ALTER SYSTEM RESET acdat_bgw.log_dictionary');

# ---- Slots go with their dictionaries ----

foreach my $i (1 .. 40)
{
	sql($node, 'postgres', qq{
		SELECT acdat.publish('passing', ARRAY['alpha']);
		SELECT acdat.contains('alpha', 'passing');
		SELECT acdat.drop_dictionary('passing')});
}
publish($node, 'postgres', 'passing', ['alpha']);
is(counts('passing'), '0 0 0', 'a dictionary begins with nothing, whoever had the name before');

# ---- Restarts ----

sql($node, 'postgres', q{SELECT acdat.contains('alpha', 'd')});
$node->restart;
is(sql($node, 'postgres', q{SELECT acdat.contains('alpha', 'd')}), 't', 'the dictionary is there after a restart');
is(counts('d'), '1 5 1', 'its counts begin anew');

done_testing();
