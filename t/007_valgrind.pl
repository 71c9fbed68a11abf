# Unit programs under valgrind: no byte is read before it was written, none
# outside of what was allocated, and nothing is lost.

use strict;
use warnings;

use File::Temp qw(tempdir);
use Test::More;

plan skip_all => 'valgrind is not installed'
  if system('valgrind --version >/dev/null 2>&1') != 0;

# Those that take minutes at valgrind's speed do less, or are left to the
# sanitizers.
my %environment = (
	test_random => 'ACDAT_RANDOM_COUNT=4000',
);
my %left_out = map { $_ => 1 }
  qw(test_large test_linear test_filter test_text test_unicode test_machine test_build);
my $folder = tempdir(CLEANUP => 1);
my @programs = grep { !m/_sanitized$/ } sort glob 'build/unit/test_*';

ok(@programs > 0, 'there are unit programs');
foreach my $program (@programs)
{
	my ($name) = $program =~ m/([^\/]+)$/;

	next if $left_out{$name};
	my $setting = $environment{$name} // '';

	is( system("$setting valgrind -q --error-exitcode=9 --leak-check=full"
			  . " --errors-for-leak-kinds=definite $program >$folder/$name.txt 2>&1"),
		0, "$name runs clean under valgrind")
	  or diag `tail -n 40 $folder/$name.txt`;
}

done_testing();
