# Clients scan in all isolation levels while others publish, processes are
# killed and the server recovers: every answer is that of the version which the
# statement's snapshot sees, nothing hangs and nothing is left.
#
# The number of the current version is kept in a table that each publish
# updates in its transaction.  A statement reads the number and scans a text
# with the names of versions around it: exactly that version's must match.
#
# ACDAT_SOAK_SECONDS says how long.

use strict;
use warnings;

use AcdatTest;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $seconds = $ENV{ACDAT_SOAK_SECONDS} || 20;
my $scanners = 16;
my $publishers = 2;

# Programs that end before they have read their input are no reason to die.
local $SIG{PIPE} = 'IGNORE';

my $node = new_node('main', conf => "min_parallel_table_scan_size = 0\nparallel_setup_cost = 0\n");
my $scratch = PostgreSQL::Test::Utils::tempdir;
my $stop = "$scratch/stop";

# The text has the names of the last and the next versions.
sql($node, 'postgres', <<'SQL');
CREATE TABLE truth (n bigint);
INSERT INTO truth VALUES (0);
CREATE TABLE rows_ AS SELECT i FROM generate_series(1, 2000) i;
CREATE FUNCTION names(n bigint) RETURNS text IMMUTABLE PARALLEL SAFE LANGUAGE sql
	RETURN (SELECT string_agg('v' || i || '.', ' ') FROM generate_series(n - 3, n + 3) i);
CREATE VIEW answer AS SELECT n, acdat.match_ids(names(n), 'd') AS ids FROM truth;
SELECT acdat.publish('d', $$SELECT 'v' || n || '.' AS pattern, n AS id FROM truth$$);
SQL

my $right = q{SELECT CASE WHEN ids = ARRAY[n] THEN 'right' ELSE 'WRONG: ' || n || ' ' || ids::text END FROM answer;} . "\n";
my $parallel = q{SELECT CASE WHEN count(*) = 2000 THEN 'right' ELSE 'WRONG: ' || count(*) END
	FROM rows_, truth WHERE acdat.match_ids(names(n) || i, 'd') = ARRAY[n];} . "\n";
my $scan = join '', "\\set QUIET on\n",
  map { "BEGIN ISOLATION LEVEL $_;\n$right$right${right}COMMIT;\n$right" }
  'READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE';
$scan = "$scan${parallel}SET statement_timeout = 2;\n$right${parallel}RESET statement_timeout;\n" x 5;
my $publish = <<'SQL' x 10;
BEGIN;
UPDATE truth SET n = n + 1;
SELECT acdat.republish('d') \g /dev/null
COMMIT;
BEGIN;
UPDATE truth SET n = n + 1;
SELECT acdat.republish('d') \g /dev/null
ROLLBACK;
SQL

# A client in a process of its own: runs a script again and again, whatever
# becomes of its connections.  What it prints is kept.
sub start_client
{
	my ($number, $script) = @_;
	my $pid = fork;

	return $pid if $pid;
	until (-e $stop)
	{
		# psql may end before it has read the script
		eval {
			IPC::Run::run([ 'psql', '-X', '-q', '-A', '-t', '-d', $node->connstr('postgres'), '-f', '-' ],
				'<', \$script, '>>', "$scratch/out$number", '2>>', "$scratch/err$number");
		};
	}
	require POSIX;
	POSIX::_exit(0);
}

my @clients = ((map { start_client($_, $scan) } 1 .. $scanners),
	(map { start_client($scanners + $_, $publish) } 1 .. $publishers));

# ---- Disturbances ----

sub pids_of
{
	my ($condition) = @_;
	my ($stdout) = ('');

	eval {
		$node->psql('postgres', "SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND $condition ORDER BY random()",
			stdout => \$stdout);
	};
	return split /\n/, $stdout // '';
}

my $ours = q{backend_type LIKE 'acdat%'};
my $clients = q{backend_type = 'client backend'};
my %disturb = (
	kill => sub { kill 'KILL', $_ foreach (pids_of($clients))[0] // () },
	'kill ours' => sub { kill 'KILL', $_ foreach (pids_of($ours))[0] // () },
	'end ours' => sub { kill 'TERM', pids_of($ours) },
	'end clients' => sub { kill 'TERM', grep { defined } (pids_of($clients))[0 .. 3] },
	cancel => sub { kill 'INT', pids_of($clients) });
my @order = sort keys %disturb;
my $end = time + $seconds;
my $count = 0;

while (time < $end)
{
	my $before = sql_number();

	$disturb{ $order[ $count++ % @order ] }->();

	# on when a version was published after it
	poll_until(sub { my $now = sql_number(); time > $end || (defined $now && $now > ($before // -1)) })
	  or last;
}

# The number of the version, undef while the server does not answer.
sub sql_number
{
	my $stdout = '';

	eval { $node->psql('postgres', 'SELECT n FROM truth', stdout => \$stdout) };
	return $stdout =~ m/^\d+$/ ? $stdout : undef;
}

# ---- What became of it ----

open my $file, '>', $stop or die "$stop: $!";
close $file;
waitpid $_, 0 foreach @clients;

my $output = join '', map { slurp_file("$scratch/out$_") } 1 .. $scanners;
my $errors = join '', map { slurp_file("$scratch/err$_") } 1 .. $scanners;
my $answers = () = $output =~ m/^right$/mg;

cmp_ok($count, '>=', 3, 'the server was disturbed');
cmp_ok($answers, '>', 1000, 'there were answers');
is(join(' ', $output =~ m/^(?!right$)(.+)$/mg), '', 'all of them right');

# Errors that the disturbances explain, and no other.
my $expected = join '|',
  'canceling statement due to (statement timeout|user request)', 'terminating connection', 'server closed the connection',
  'the database system is', 'current transaction is aborted', 'could not serialize access',
  'lost synchronization';

is(join("\n", grep { m/(ERROR|FATAL|PANIC):/ && !m/$expected/ } split /\n/, $errors), '',
	'and no error but those that the disturbances explain');
note("$count disturbances, $answers right answers, version " . sql_number());
ok(poll_until(sub { states_of($node, 'd') =~ m/^\d+:live$/ }), 'one state is left');
is(sql($node, 'postgres', 'SELECT ids = ARRAY[n] FROM answer'), 't', 'the right one');
is(sql($node, 'postgres', q{SELECT count(*) FROM acdat.worker WHERE kind = 'compiler'}), 0, 'and no job');
$node->stop;
done_testing();
