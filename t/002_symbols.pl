# The library exports nothing that could clash with another one: servers
# before 16 load modules with all their symbols visible to each other.

use strict;
use warnings;

use Test::More;

my @exported =
  `nm --dynamic --defined-only --format=posix acdat_bgw.so` =~ m/^([^\s@]+)/mg;

ok(scalar(grep { $_ eq '_PG_init' } @exported),
	'the library in this folder is a module for the server');

is_deeply(
	[
		grep {
			!m/^acdat_|^pg_finfo_acdat_|^_PG_init$|^Pg_magic_func$/
			  && !m/^_init$|^_fini$|^__bss_start$|^_edata$|^_end$/
		} @exported
	],
	[], 'every symbol it exports begins with acdat_');

done_testing();
