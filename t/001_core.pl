# The matcher in src/core is plain C99 and knows nothing of PostgreSQL.

use strict;
use warnings;

use File::Temp qw(tempdir);
use Test::More;

my $cc = $ENV{CC} || 'gcc';
my $folder = tempdir(CLEANUP => 1);
my @sources = sort glob 'src/core/*.c';
my $flags = '-std=c99 -D_POSIX_C_SOURCE=200809L -O2 -Wall -Wextra -Werror'
  . ' -Wconversion -Wshadow -fPIC -I.';

# Output of a command, which must succeed.
sub run
{
	my ($command) = @_;
	my $output = `$command 2>&1`;

	die "$command failed:\n$output" if $?;
	return $output;
}

sub symbols
{
	my ($option) = @_;

	return run("nm $option --format=posix $folder/core.so") =~ m/^([^\s@]+)/mg;
}

ok(@sources > 0, 'there is a core to look at');

my @included = map { run("$cc $flags -M $_") =~ m/(\S+\.h)/g } @sources;

is_deeply([ grep { m/postgres|^(?!\/).*(?:shmem|src\/(?!core\/))/ } @included ],
	[], 'no file of the core includes a header of PostgreSQL or of another floor');

is(system("$cc $flags -shared -Wl,-z,defs -o $folder/core.so @sources -lutf8proc"),
	0, 'the core compiles without warnings and needs nothing but libc and utf8proc');

# The linker adds some of its own.
is_deeply(
	[ grep { !m/^acdat_|^_init$|^_fini$|^__bss_start$|^_edata$|^_end$/ } symbols('--dynamic --defined-only') ],
	[], 'every symbol the core exports begins with acdat_');

is_deeply(
	[ grep { m/^_?(?:exit|_Exit|abort|quick_exit|v?d?f?printf(?:_chk)?|__v?f?printf_chk|f?puts|f?putc|putchar|perror|write|__assert_fail)$/ } symbols('--dynamic --undefined-only') ],
	[], 'the core neither prints nor ends the process');

done_testing();
