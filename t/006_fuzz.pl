# The fuzzers run for a few seconds each, from the corpus that is kept; make
# fuzz runs them longer.

use strict;
use warnings;

use File::Temp qw(tempdir);
use Test::More;

my $runs = $ENV{ACDAT_FUZZ_RUNS} || 2000;
my $folder = tempdir(CLEANUP => 1);
my @fuzzers = sort map { m/(fuzz_\w+)\.c$/ } glob 't/fuzz/fuzz_*.c';

open my $probe, '>', "$folder/probe.c" or die "$folder/probe.c: $!";
print $probe "int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n);\n"
  . "int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n) { return d == 0 && n > 0; }\n";
close $probe;
plan skip_all => 'clang with libFuzzer is not installed'
  if system("clang -fsanitize=fuzzer,address $folder/probe.c -o $folder/probe 2>$folder/probe.txt") != 0;

ok(@fuzzers > 0, 'there are fuzzers');
foreach my $fuzzer (@fuzzers)
{
	my ($name) = $fuzzer =~ m/^fuzz_(\w+)/;
	my @seeds = glob "t/fuzz/$name/*";

	ok(@seeds > 0, "$fuzzer has a corpus");
	is(system("make -s build/fuzz/$fuzzer >$folder/make.txt 2>&1"), 0, "$fuzzer builds")
	  or diag `cat $folder/make.txt`;
	mkdir "$folder/$name";
	is( system("build/fuzz/$fuzzer -runs=$runs -timeout=30 -artifact_prefix=$folder/"
			  . " $folder/$name t/fuzz/$name >$folder/$name.txt 2>&1"),
		0, "$fuzzer finds nothing in $runs runs")
	  or diag `tail -n 40 $folder/$name.txt`;
}

done_testing();
