# Sessions interleaved as t/specs says see what t/expected says.

use strict;
use warnings;

use AcdatTest;
use PostgreSQL::Test::Utils;
use Test::More;

my @tests = map { m/(\w+)\.spec$/ } sort glob 't/specs/*.spec';
my $output = PostgreSQL::Test::Utils::tempdir;
my $node = new_node('isolation', extension => 0);
my ($stdout, $stderr);

ok(@tests > 0, 'there are sessions to interleave');

IPC::Run::run(
	[
		$ENV{PG_ISOLATION_REGRESS}, '--inputdir=t', "--outputdir=$output",
		'--bindir=', '--host=' . $node->host, '--port=' . $node->port,
		'--dbname=isolation', '--encoding=UTF8', '--load-extension=acdat_bgw',
		@tests
	],
	'>', \$stdout, '2>', \$stderr);
diag slurp_file("$output/regression.diffs")
  if -s "$output/regression.diffs";

my %passed = map { $_ => 1 } passed_tests($stdout . $stderr);

ok($passed{$_}, "sessions interleave as expected in $_.spec") foreach @tests;

done_testing();
