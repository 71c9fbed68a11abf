# postgres_fdw: conditions with machine values are evaluated where the rows
# are, if the extension is listed; those with a dictionary's name here, with
# the dictionary of this database.

use strict;
use warnings;

use AcdatTest;
use Test::More;

my $node = new_node('fdw');

plan skip_all => 'postgres_fdw is not installed'
  unless sql($node, 'postgres',
	q(SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'));

my ($host, $port) = ($node->host, $node->port);

# ---- a remote database with a table in two parts, and one here ----

sql($node, 'postgres', 'CREATE DATABASE remote');
sql($node, 'remote', q(
	CREATE EXTENSION acdat_bgw;
	CREATE TABLE message (i int, body text);
	INSERT INTO message SELECT i, md5(i::text) FROM generate_series(1, 1000) i;
	INSERT INTO message VALUES (1001, 'the needle is here');
	CREATE TABLE message_2 (i int, body text);
	INSERT INTO message_2 VALUES (2001, 'hay'), (2002, 'another needle');
	ANALYZE;
));
publish($node, 'remote', 'words', ['hay']);
publish($node, 'postgres', 'words', ['needle']);
sql($node, 'postgres', qq(
	CREATE EXTENSION postgres_fdw;
	CREATE SERVER remote FOREIGN DATA WRAPPER postgres_fdw
		OPTIONS (host '$host', port '$port', dbname 'remote', extensions 'acdat_bgw');
	CREATE SERVER unlisted FOREIGN DATA WRAPPER postgres_fdw
		OPTIONS (host '$host', port '$port', dbname 'remote');
	CREATE USER MAPPING FOR CURRENT_USER SERVER remote;
	CREATE USER MAPPING FOR CURRENT_USER SERVER unlisted;
	CREATE FOREIGN TABLE message (i int, body text) SERVER remote;
	CREATE FOREIGN TABLE message_unlisted (i int, body text) SERVER unlisted
		OPTIONS (table_name 'message');
	CREATE TABLE parts (i int, body text) PARTITION BY RANGE (i);
	CREATE TABLE part_here PARTITION OF parts FOR VALUES FROM (3001) TO (4000);
	CREATE FOREIGN TABLE part_1 PARTITION OF parts FOR VALUES FROM (1) TO (2000)
		SERVER remote OPTIONS (table_name 'message');
	CREATE FOREIGN TABLE part_2 PARTITION OF parts FOR VALUES FROM (2000) TO (3000)
		SERVER remote OPTIONS (table_name 'message_2');
	INSERT INTO parts VALUES (3001, 'a needle here');
	CREATE TABLE machines AS
		SELECT acdat.compile(w) AS machine FROM (VALUES ('needle')) v(w);
));

my $machine = "'"
  . sql($node, 'postgres', 'SELECT machine FROM machines') . "'::acdat.machine";

# The remote statements of a plan and the conditions that stay here.
sub remote_and_local
{
	my ($query) = @_;
	my $plan = sql($node, 'postgres', "EXPLAIN (VERBOSE, COSTS OFF) $query");
	my @remote = $plan =~ m/Remote SQL: (.*)/g;
	my @local = $plan =~ m/^ *Filter: (.*)/mg;

	return (join("\n", @remote), join("\n", @local));
}

# ---- machine values ----

my ($remote, $local) =
  remote_and_local("SELECT i FROM message WHERE acdat.contains(body, $machine)");
like($remote, qr/WHERE .*acdat\.contains\(body, /, 'a machine constant goes to the remote server');
is($local, '', 'and nothing is left to filter');
is(sql($node, 'postgres', "SELECT i FROM message WHERE acdat.contains(body, $machine)"),
	1001, 'with the right rows');

my $initplan = 'acdat.contains(body, (SELECT machine FROM machines))';
($remote, $local) = remote_and_local("SELECT i FROM message WHERE $initplan");
like($remote, qr/acdat\.contains\(body, .*\$1/, 'so does one from a query, as a parameter');
is(sql($node, 'postgres', "SELECT i FROM message WHERE $initplan"), 1001, 'with the right rows');

($remote, $local) = remote_and_local(
	"SELECT count(*) FROM message WHERE acdat.count_matches(body, $machine) > 0");
like($remote, qr/count\(\*\).*acdat\.count_matches/, 'aggregates over such rows are remote, too');

($remote, $local) =
  remote_and_local("SELECT i FROM message_unlisted WHERE acdat.contains(body, $machine)");
unlike($remote, qr/acdat/, 'nothing goes to a server that does not list the extension');
like($local, qr/acdat\.contains/, 'the rows are filtered here');
is(sql($node, 'postgres', "SELECT i FROM message_unlisted WHERE acdat.contains(body, $machine)"),
	1001, 'with the same answer');

# ---- names ----

($remote, $local) =
  remote_and_local(q(SELECT i FROM message WHERE acdat.contains(body, 'words')));
unlike($remote, qr/acdat/, 'a name does not go: it means another dictionary there');
like($local, qr/acdat\.contains/, 'the rows are filtered here');
is(sql($node, 'postgres', q(SELECT i FROM message WHERE acdat.contains(body, 'words'))),
	1001, 'with the dictionary of this database');

# ---- partitions ----

my $parts = "SELECT i FROM parts WHERE acdat.contains(body, $machine)";
($remote, $local) = remote_and_local($parts);
is(scalar(() = $remote =~ m/acdat\.contains/g), 2, 'each foreign partition is asked with the condition');
is(scalar(() = $local =~ m/acdat\.contains/g), 1, 'the local one is filtered here');
is(sql($node, 'postgres', "$parts ORDER BY i"), "1001\n2002\n3001", 'with the rows of all of them');
is( sql($node, 'postgres', "SET enable_partitionwise_aggregate = on;"
		. " SELECT count(*) FROM parts WHERE acdat.contains(body, $machine)"),
	3, 'partition-wise aggregates count them');
is( sql($node, 'postgres', q(SELECT i FROM parts WHERE acdat.contains(body, 'words') ORDER BY i)),
	"1001\n2002\n3001", 'and by name, too');

$node->stop;
done_testing();
