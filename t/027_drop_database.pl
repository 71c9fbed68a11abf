# Databases can be dropped and copied as without the extension; what they had
# in shared memory goes with them.

use strict;
use warnings;

use AcdatTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('drop_database');
my @words = qw(alpha beta gamma delta);

# A database with the extension and a dictionary that is in use.
sub make_database
{
	my ($database, $word, %option) = @_;

	sql($node, 'postgres', "CREATE DATABASE $database");
	sql($node, $database, 'CREATE EXTENSION acdat_bgw');
	publish($node, $database, $option{name} // 'd', [$word],
		map { $_ => $option{$_} } grep { $_ ne 'name' } keys %option);
	return;
}

# Everything is known of the databases listed, and of no others.
sub known_databases
{
	return sql($node, 'postgres', q{
		SELECT coalesce(string_agg(DISTINCT coalesce(database, '?'), ' '), '')
		FROM acdat.generations});
}

# DROP DATABASE fails at once if a session is connected to it, so the
# processes of the extension must not be; it must not wait for them either.
sub dropped_at_once
{
	my ($database, $sentence, $option) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;

	return is(sql_error($node, 'postgres',
			"SET statement_timeout = '10s';\nDROP DATABASE $database" . ($option // '')),
		'', $sentence);
}

publish($node, 'postgres', 'd', ['alpha']);
ok(wait_for_states($node, undef, 'd:1:live'), 'one dictionary is known');
my $segments = cluster_segments($node);
my $session = session($node, 'postgres');

# ---- The publishing database ----

make_database('gone', 'beta', cluster => 'true', name => 'rule');
answer_is($session, 'rule', \@words, 'beta', 'a cluster-wide dictionary of another database is in use');
answer_is($session, 'd', \@words, 'alpha', 'beside one of this database');
dropped_at_once('gone', 'the database that published a dictionary can be dropped');
ok($node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM acdat.generations
		WHERE database IS DISTINCT FROM 'postgres'}),
	'its dictionaries leave the registry');
like($session->error(answer('rule', @words)), qr/ERROR:  42704:/,
	'the cluster-wide one does not exist any more for sessions that used it');
ok(wait_for_segments($node, $segments), 'its segments are removed though a session mapped one');
answer_is($session, 'd', \@words, 'alpha', 'others are not concerned');
is(publish($node, 'postgres', 'rule', ['gamma'], cluster => 'true'), 1, 'the name is free again');
sql($node, 'postgres', q{SELECT acdat.drop_dictionary('rule')});

# ---- Other databases ----

sql($node, 'postgres', 'CREATE DATABASE plain');
dropped_at_once('plain', 'a database that has nothing to do with the extension can be dropped');
sql($node, 'postgres', 'CREATE DATABASE forced');
sql($node, 'forced', 'CREATE EXTENSION acdat_bgw');
publish($node, 'forced', 'd', ['delta']);
my $inside = session($node, 'forced');
answer_is($inside, 'd', \@words, 'delta', 'a session in the database scans');
dropped_at_once('forced', 'a database can be dropped by force', ' WITH (FORCE)');
$inside->quit;
ok(wait_for_segments($node, $segments), 'and its segments are removed');

# While a large dictionary compiles, in the database itself and elsewhere.
my $writer = session($node, 'postgres');
sql($node, 'postgres', 'CREATE DATABASE other');
$writer->send_query(q{SELECT acdat.publish('large',
	'SELECT md5(i::text) AS pattern FROM generate_series(1, 100000) i')});
ok(poll_until(sub { $session->query(q{SELECT count(*) FROM acdat.worker
		WHERE kind = 'compiler' AND state LIKE 'compiling%'}) > 0 }),
	'a large dictionary is being compiled');
dropped_at_once('other', 'a database can be dropped meanwhile');
is(($writer->result)[0], 1, 'the publish is not disturbed');
is(sql($node, 'postgres', q{SELECT acdat.contains(md5('7'), 'large')}), 't', 'and the dictionary answers');
sql($node, 'postgres', q{SELECT acdat.drop_dictionary('large')});
$writer->quit;

# The tables are looked at each second here; a loader that happens to be in
# the database must be gone soon enough.
foreach my $i (1 .. 10)
{
	make_database("round$i", 'alpha');
	dropped_at_once("round$i", "database $i of ten is dropped");
}
ok(wait_for_states($node, undef, 'd:1:live'), 'ten databases later one dictionary is known');
ok(wait_for_segments($node, $segments), 'and shared memory is as before');

# A drop that fails must change nothing.
make_database('kept', 'gamma');
$inside = session($node, 'kept');
like(sql_error($node, 'postgres', "SET statement_timeout = '300ms';\nDROP DATABASE kept"),
	qr/ERROR:  57014:/, 'a drop that waits for a session can be cancelled');
answer_is($inside, 'd', \@words, 'gamma', 'and its dictionary still answers');
is(known_databases(), 'kept postgres', 'and is known');
$inside->quit;
dropped_at_once('kept', 'when the session has ended it can');

# ---- Rename ----

make_database('before', 'gamma');
is(sql_error($node, 'postgres', 'ALTER DATABASE before RENAME TO after'), '',
	'a database can be renamed');
is(sql($node, 'after', answer('d', @words)), 'gamma', 'and its dictionary answers under the new name');
is(known_databases(), 'after postgres', 'which the view shows');
dropped_at_once('after', 'it can be dropped then');
ok(wait_for_segments($node, $segments), 'and leaves nothing');

# ---- DROP EXTENSION ----

make_database('without', 'beta');
publish($node, 'without', 'e', ['gamma']);
$inside = session($node, 'without');
answer_is($inside, 'd', \@words, 'beta', 'a dictionary is in use before DROP EXTENSION');
$inside->query('BEGIN');
$inside->query('DROP EXTENSION acdat_bgw CASCADE');
$inside->query('ROLLBACK');
answer_is($inside, 'd', \@words, 'beta', 'a rolled back DROP EXTENSION changes nothing');
is(known_databases(), 'postgres without', 'nor what is known');
$inside->query('DROP EXTENSION acdat_bgw CASCADE');
ok($node->poll_query_until('postgres',
		q{SELECT count(*) = 0 FROM acdat.generations WHERE database = 'without'}),
	'DROP EXTENSION empties the registry of the database');
ok(wait_for_segments($node, $segments), 'and its part of shared memory');
$inside->query('CREATE EXTENSION acdat_bgw');
like($inside->error(q{SELECT acdat.contains('x', 'd')}), qr/ERROR:  42704:/,
	'created again the extension has no dictionaries');
is($inside->query(q{SELECT acdat.publish('d', ARRAY['delta'])}), 1, 'and versions begin anew');
answer_is($inside, 'd', \@words, 'delta', 'with new content');
$inside->query(q{BEGIN; DROP EXTENSION acdat_bgw CASCADE; CREATE EXTENSION acdat_bgw});
$inside->query(q{SELECT acdat.publish('d', ARRAY['alpha'])});
answer_is($inside, 'd', \@words, 'alpha', 'dropped, created and published in one transaction it answers');
$inside->query('COMMIT');
answer_is($inside, 'd', \@words, 'alpha', 'also after that transaction');
ok($node->poll_query_until('postgres',
		q{SELECT string_agg(state, ' ') = 'live' FROM acdat.generations WHERE database = 'without'}),
	'one state of it stays known');
answer_is($inside, 'd', \@words, 'alpha', 'and answers when the tables have been looked at again');
$inside->query(q{BEGIN; SAVEPOINT s; DROP EXTENSION acdat_bgw CASCADE; ROLLBACK TO s});
answer_is($inside, 'd', \@words, 'alpha', 'ROLLBACK TO SAVEPOINT undoes DROP EXTENSION, too');
$inside->query(q{DROP EXTENSION acdat_bgw CASCADE; CREATE EXTENSION acdat_bgw; COMMIT});
is($inside->query(q{SELECT acdat.publish('d', ARRAY['beta'])}), 1,
	'right after a COMMIT of both the name is free');
answer_is($inside, 'd', \@words, 'beta', 'and answers');
$inside->query('DROP SCHEMA acdat CASCADE');
ok($node->poll_query_until('postgres',
		q{SELECT count(*) = 0 FROM acdat.generations WHERE database = 'without'}),
	'DROP SCHEMA does the same');
$inside->quit;
dropped_at_once('without', 'the database can be dropped then');

# ---- Templates ----

make_database('model', 'beta');
publish($node, 'model', 'rule', ['gamma'], cluster => 'true');
is(sql_error($node, 'postgres', 'CREATE DATABASE copy TEMPLATE model'), '',
	'a database with dictionaries can be a template');
is(sql($node, 'copy', answer('d', @words)), 'beta', 'in the copy its dictionary answers at once');
is(publish($node, 'copy', 'd', ['delta']), 2, 'and can be published there');
is(sql($node, 'copy', answer('d', @words)), 'delta', 'for the copy');
is(sql($node, 'model', answer('d', @words)), 'beta', 'not for the original');
is(sql($node, 'copy', answer('rule', @words)), 'gamma', 'the cluster-wide one answers in the copy');
like(sql_error($node, 'copy', q{SELECT acdat.publish('rule', ARRAY['delta'])}),
	qr/ERROR:  42710: cluster-wide dictionary "rule" already exists/,
	'which cannot publish it while the original lives');
like(sql($node, 'postgres', q{SELECT state || ': ' || error FROM acdat.generations
		WHERE database = 'copy' AND dictionary = 'rule'}),
	qr/^inactive: an older database owns the cluster-wide name$/, 'the view shows that it is inactive there, and why');
is(publish($node, 'model', 'rule', ['alpha']), 2, 'the original goes on publishing it');
is(sql($node, 'copy', answer('rule', @words)), 'alpha', 'and is the one that counts in the copy');
is(sql($node, 'postgres', answer('rule', @words)), 'alpha', 'and elsewhere');
dropped_at_once('model', 'the original can be dropped');
is(sql($node, 'copy', answer('d', @words)), 'delta', 'the copy has its own dictionary');
ok($node->poll_query_until('postgres', answer('rule', @words), 'gamma'),
	'and its copy of the cluster-wide one takes over');
dropped_at_once('copy', 'the copy can be dropped as well');

sql($node, 'postgres', 'CREATE DATABASE mold IS_TEMPLATE true');
sql($node, 'mold', 'CREATE EXTENSION acdat_bgw');
publish($node, 'mold', 'd', ['gamma']);
is(sql($node, 'mold', answer('d', @words)), 'gamma', 'in a template database a dictionary can be used');
is(sql_error($node, 'postgres', 'CREATE DATABASE moulded TEMPLATE mold'), '', 'which can be copied');
is(sql($node, 'moulded', answer('d', @words)), 'gamma', 'with its dictionary');
dropped_at_once('moulded', 'and the copy dropped');
sql($node, 'postgres', 'ALTER DATABASE mold IS_TEMPLATE false');
dropped_at_once('mold', 'and so can the former template');

ok(wait_for_states($node, undef, 'd:1:live'), 'at the end one dictionary is known');
ok(wait_for_segments($node, $segments), 'and shared memory is as at the beginning');
answer_is($session, 'd', \@words, 'alpha', 'it answers a session that was there all the time');

$session->quit;
$node->stop;
done_testing();
