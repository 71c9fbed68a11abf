# The statements in README.md run as they are printed.

use strict;
use warnings;

use AcdatTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $readme = slurp_file('README.md');
my @blocks = documented_statements('README.md');
my $node = new_node('readme', extension => 0);

ok(@blocks > 0, 'the README shows statements');
foreach my $i (0 .. $#blocks)
{
	is(sql_error($node, 'postgres', $blocks[$i]{sql}),
		'', 'statements ' . ($i + 1) . ' of the README run');
}

is(sql($node, 'postgres', "SELECT acdat.redact('Ask Alice Miller', 'pii')"),
	'Ask ************', 'the example at the top redacts what it says');

# The table of settings is that of the server.
my @documented = $readme =~ m/^\| `(acdat_bgw\.\w+)` \|/mg;

is(join("\n", sort @documented),
	sql($node, 'postgres',
		"SELECT name FROM pg_settings WHERE name LIKE 'acdat_bgw.%' ORDER BY name COLLATE \"C\""),
	'the README lists every setting');

# So are the functions that anybody may use.
foreach my $function (split /\n/, sql($node, 'postgres', <<'SQL'))
SELECT DISTINCT proname FROM pg_proc
WHERE pronamespace = 'acdat'::regnamespace AND prorettype <> 'trigger'::regtype
	AND proname !~ '^(machine_(in|out|recv|send)|compile_(step|final)|registry_entries|scan_counters|pattern_hit_counters|worker_processes|republish_requests|attached_change)$'
	AND NOT ('internal'::regtype = ANY (proargtypes))
SQL
{
	like($readme, qr/\b$function\(/, "the README describes $function()");
}

done_testing();
