# Every kind of dynamic shared memory that the server knows, and its region in
# main shared memory.

use strict;
use warnings;

use AcdatTest;
use Test::More;

my %kinds = (
	posix => "dynamic_shared_memory_type = posix\n",
	sysv => "dynamic_shared_memory_type = sysv\n",
	mmap => "dynamic_shared_memory_type = mmap\n",
	region => "min_dynamic_shared_memory = 64MB\nhuge_pages = try\n",
	overflow => "min_dynamic_shared_memory = 1MB\n");
my $count = q{SELECT count(*) FROM lines WHERE acdat.contains(line, 'd')};

foreach my $kind (sort keys %kinds)
{
	my $node = new_node($kind, conf => $kinds{$kind} . "min_parallel_table_scan_size = 0\nparallel_setup_cost = 0\n");

	sql($node, 'postgres', <<'SQL');
CREATE TABLE lines AS SELECT 'line ' || md5(i::text) AS line FROM generate_series(1, 20000) i;
SELECT acdat.publish('d', 'SELECT substr(line, 6) AS pattern FROM lines');
SQL
	my $session = session($node, 'postgres');

	is($session->query($count), 20000, "$kind: parallel workers find what a large machine has");
	sql($node, 'postgres', q{SELECT acdat.publish('d', ARRAY['line 9'])});
	is($session->query($count), sql($node, 'postgres', q{SELECT count(*) FROM lines WHERE line LIKE '%line 9%'}),
		"$kind: the next version answers");
	ok(wait_for_states($node, 'd', '2:live'), "$kind: the former one goes");
	$session->quit;
	$node->stop('immediate');
	$node->start;
	is(sql($node, 'postgres', answer('d', 'line 9', 'line 8')), 'line 9', "$kind: after a crash it is loaded again");
	sql($node, 'postgres', q{SELECT acdat.drop_dictionary('d')});
	ok(wait_for_states($node, 'd', ''), "$kind: dropped, it is gone");
	$node->stop;
}
done_testing();
