# The statements in t/sql give what t/expected says: all of them with the
# library preloaded, and those that need no dictionary without it as well.

use strict;
use warnings;

use AcdatTest;
use PostgreSQL::Test::Utils;
use Test::More;

# What needs no dictionary, and says what happens to those that do.
my @without =
  map { split ' ' } slurp_file('t/regress_machine_schedule') =~ m/^test:(.*)$/mg;
my @with =
  grep { $_ ne 'no_preload' } map { m/(\w+)\.sql$/ } sort glob 't/sql/*.sql';

# One row of the report per test that failed, and what differed.
sub regress
{
	my ($node, @tests) = @_;
	my $output = PostgreSQL::Test::Utils::tempdir;
	my ($stdout, $stderr);

	IPC::Run::run(
		[
			$ENV{PG_REGRESS}, '--inputdir=t', "--outputdir=$output",
			'--bindir=', '--host=' . $node->host, '--port=' . $node->port,
			'--dbname=regression', '--encoding=UTF8',
			'--load-extension=acdat_bgw', @tests
		],
		'>', \$stdout, '2>', \$stderr);
	diag slurp_file("$output/regression.diffs")
	  if -s "$output/regression.diffs";
	return passed_tests($stdout . $stderr);
}

ok(@with > 0 && @without > 0, 'there are statements to run');

foreach my $preload (1, 0)
{
	my @tests = $preload ? @with : @without;
	my $node = new_node($preload ? 'preloaded' : 'plain',
		preload => $preload, extension => 0);
	my %passed = map { $_ => 1 } regress($node, @tests);

	foreach my $test (@tests)
	{
		ok($passed{$test}, "$test.sql gives what is expected "
			  . ($preload ? 'with' : 'without') . ' the library preloaded');
	}
	$node->stop;
}

done_testing();
