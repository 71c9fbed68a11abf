# Thousands of publishes of mixed sizes, with rollbacks, savepoints and cancels
# among them, leave the use of memory where it was.
#
# ACDAT_PUBLISHES says how many; a table of the figures is printed.

use strict;
use warnings;

use AcdatTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $publishes = $ENV{ACDAT_PUBLISHES} || 1000;
my $batches = 10;
my $per_batch = int($publishes / $batches);

# The server has a segment of its own once its statistics have grown.
my $own_segments = 1;

my $node = new_node('main');
my $session = session($node, 'postgres');

# The dictionaries d0 to d4 and twenty sizes up to 2,000 patterns; what is
# published is the number of the publish and fillers.
$session->query(<<'SQL');
CREATE PROCEDURE publish_many(first integer, count integer) LANGUAGE plpgsql AS $$
DECLARE
	n integer;
	query text;
BEGIN
	FOR i IN first .. first + count - 1 LOOP
		n := 1 + (i % 20) * (i % 20) * 5;
		query := format('SELECT %L || j AS pattern FROM generate_series(1, %s) j', i || '-', n);
		PERFORM acdat.publish('d' || i % 5, query);
		IF i % 7 = 0 THEN
			ROLLBACK;
		ELSIF i % 7 = 1 THEN
			BEGIN
				PERFORM acdat.publish('d' || (i + 1) % 5, query);
				RAISE division_by_zero;
			EXCEPTION WHEN division_by_zero THEN
				NULL;
			END;
			COMMIT;
		ELSE
			COMMIT;
		END IF;
		IF i % 50 = 0 THEN
			PERFORM acdat.publish('dropped', ARRAY['x']);
			PERFORM acdat.drop_dictionary('dropped');
			COMMIT;
		END IF;
	END LOOP;
END $$;
SQL

# Only this process's pages: what it shares with others is not its growth.
sub launcher_kilobytes
{
	my $pid = launcher_pid($node);
	my ($kilobytes) = slurp_file("/proc/$pid/status") =~ m/^RssAnon:\s+(\d+) kB/m;

	return $kilobytes;
}

sub segments
{
	return split ' ', cluster_segments($node);
}

sub figures
{
	return split /\|/, sql($node, 'postgres', <<'SQL') . '|' . segments() . '|' . launcher_kilobytes();
SELECT count(*), coalesce(sum(bytes), 0), count(*) FILTER (WHERE state <> 'live'),
	(SELECT count(*) FROM acdat.dictionary_version) FROM acdat.generations
SQL
}

my @table;

foreach my $batch (1 .. $batches)
{
	$session->query('CALL publish_many(' . (1000 * $batch) . ", $per_batch)");
	foreach my $timeout (1 .. 10)
	{
		# LOCAL: what ends the transaction is not under the timeout
		$session->query("BEGIN; SET LOCAL statement_timeout = $timeout");
		$session->error(q{SELECT acdat.publish('d0', 'SELECT i::text AS pattern FROM generate_series(1, 20000) i')});
		$session->query('ROLLBACK');
	}
	$session->query(q{SELECT acdat.contains('x', 'd' || i) FROM generate_series(0, 4) i});
	$session->query(qq{SELECT acdat.publish('d' || i, 'SELECT i::text AS pattern FROM generate_series(1, 500) i') FROM generate_series(0, 4) i});
	ok(poll_until(sub {
				my ($entries, $bytes, $others) = figures();

				$entries == 5 && $others == 0 && segments() <= 5 + $own_segments }),
		"after batch $batch there are five states and their segments")
	  or diag(join(' ', figures()) . ': ' . states_of($node));
	push @table, [ $batch * $per_batch, figures() ];
}

note('publishes   states  bytes of machines  not live  stored versions  segments  launcher kB');
note(sprintf '%9d %8d %18d %9d %16d %9d %12d', @$_) foreach @table;
is($table[-1][2], $table[0][2], 'the bytes of machines are what they were');
cmp_ok($table[-1][4], '<=', 15, 'three versions of each dictionary are stored');
cmp_ok($table[-1][6], '<=', $table[2][6] + 1024, 'the launcher has not grown');

$session->quit;
sql($node, 'postgres', 'DROP EXTENSION acdat_bgw CASCADE');
ok(poll_until(sub { segments() <= $own_segments }), 'without the extension no segment is left');
sql($node, 'postgres', 'CREATE EXTENSION acdat_bgw');
is(sql($node, 'postgres', 'SELECT count(*) FROM acdat.generations'), 0, 'and no state');
$node->stop;
done_testing();
