# What the tree cannot be built for is refused by a message of its own, and
# differences between servers are in two headers alone.

use strict;
use warnings;

use File::Temp qw(tempdir);
use Test::More;

my $cc = $ENV{CC} || 'gcc';
my $folder = tempdir(CLEANUP => 1);

sub write_file
{
	my ($name, $text) = @_;

	open(my $file, '>', "$folder/$name") or die "$name: $!";
	print $file $text;
	close($file) or die "$name: $!";
	return;
}

sub read_file
{
	my ($name) = @_;

	open(my $file, '<', $name) or die "$name: $!";
	local $/ = undef;
	return scalar <$file>;
}

# What the compiler says to a source with one include, preceded by options.
sub compile
{
	my ($header, @options) = @_;

	write_file('probe.c', "#include \"$header\"\n");
	return scalar `$cc @options -I. -fsyntax-only -Wfatal-errors $folder/probe.c 2>&1`;
}

my $big_endian = '-U__BYTE_ORDER__ -D__BYTE_ORDER__=__ORDER_BIG_ENDIAN__';

is(compile('src/core/acdat.h', '-std=c99 -Wno-builtin-macro-redefined'),
	'', 'the core is for this machine');
like(
	compile('src/core/acdat.h', "-Wno-builtin-macro-redefined $big_endian"),
	qr/error: .*acdat requires a little-endian machine/,
	'big-endian machines are refused');

# A server of another version, as far as its headers say which it is.  The
# first thing they lack after that ends the compilation.
for my $version (90624, 140023, 150000, 160000, 200000)
{
	my $name = int($version / 10000);

	write_file('postgres.h', "#define PG_VERSION_NUM $version\n");
	my $output = compile('shmem/shmem_compat.h', "-I$folder");

	if ($version < 150000)
	{
		like($output, qr/error: .*acdat_bgw requires PostgreSQL 15 or later/,
			"PostgreSQL $name is refused");
	}
	else
	{
		unlike($output, qr/acdat_bgw requires/, "PostgreSQL $name is not refused");
	}
}

# In these headers alone, so that t/VERSIONS.md can tell what differs.
my @sources = glob 'src/*.[ch] shmem/*.[ch] src/core/*.[ch] src/cli/*.[ch]';
is_deeply(
	[
		sort grep { read_file($_) =~ m/\bPG_VERSION_NUM\b|\bPG_MAJORVERSION_NUM\b|\bCATALOG_VERSION_NO\b/ }
		  @sources
	],
	[ 'shmem/shmem_compat.h', 'src/pgcompat.h' ],
	'no other file asks for the version of the server');

# Assertions are on in this, and the server's headers are not looked into.
my $warnings = `t/tools/warnings $cc 2>&1`;
is($?, 0, 'nothing to warn of in any file') or diag($warnings);

done_testing();
