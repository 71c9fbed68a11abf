# Without shared_preload_libraries: the extension can be created, machine
# values work, and whatever needs shared memory says what to do.

use strict;
use warnings;

use AcdatTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $LINE = q{shared_preload_libraries = 'acdat_bgw'};
my $node = new_node('no_preload', preload => 0);

# ---- Machine functions ----

is(sql($node, 'postgres', q{SELECT count(*) FROM pg_extension WHERE extname = 'acdat_bgw'}), 1,
	'CREATE EXTENSION works');
sql($node, 'postgres', q{
	CREATE TABLE machine AS
	SELECT acdat.compile(word, id, 0, replacement) AS machine
	FROM (VALUES ('alpha', 7::bigint, 'A'), ('beta', 8, 'B')) v(word, id, replacement)});

my %answer = (
	q{acdat.contains('an alpha', machine)} => 't',
	q{acdat.contains('gamma'::bytea, machine)} => 'f',
	q{acdat.count_matches('alpha beta alpha', machine)} => 3,
	q{acdat.match_ids('beta alpha beta', machine)} => '{7,8}',
	q{(acdat.first_match('a beta', machine)).char_pos} => 3,
	q{(SELECT string_agg(pattern_id::text, ' ') FROM acdat.matches('alphabeta', machine))} => '7 8',
	q{acdat.replace('alpha or beta', machine)} => 'A or B',
	q{acdat.redact('an alpha', machine)} => 'an *****',
	q{(acdat.machine_info(machine)).patterns} => 2);

foreach my $call (sort keys %answer)
{
	is(sql($node, 'postgres', "SELECT $call FROM machine"), $answer{$call}, "$call works");
}

# ---- Dictionary functions ----

# The error names the line, so that it can be copied.
foreach my $call (
	q{acdat.contains('x', 'd')}, q{acdat.contains('x'::bytea, 'd')},
	q{acdat.count_matches('x', 'd')}, q{acdat.match_ids('x', 'd')},
	q{acdat.first_match('x', 'd')}, q{acdat.matches('x', 'd')},
	q{acdat.replace('x', 'd')}, q{acdat.redact('x', 'd')},
	q{acdat.redact('x'::bytea, 'd')},
	q{acdat.publish('d', ARRAY['x'])}, q{acdat.publish('d', 'SELECT 1')},
	q{acdat.republish('d')}, q{acdat.rollback('d', 1)},
	q{acdat.drop_dictionary('d')}, q{acdat.rename_dictionary('d', 'e')},
	q{acdat.set_reader('d', 'public')}, q{acdat.patterns('d')})
{
	like(sql_error($node, 'postgres', "SELECT $call"),
		qr/ERROR:  55000: acdat_bgw must be loaded via shared_preload_libraries\nHINT:[^\n]*\Q$LINE\E/,
		"$call says which line to add");
}
is(sql($node, 'postgres', 'SELECT count(*) FROM acdat.dictionary'), 0, 'nothing was written');

# ---- What monitoring and administration need ----

is(sql($node, 'postgres', "SELECT count(*) FROM acdat.$_"), 0, "the view $_ can be read")
  foreach qw(dictionaries versions generations worker);
$node->command_ok([ 'pg_dump', '-f', '/dev/null', 'postgres' ], 'pg_dump works');
is(sql_error($node, 'postgres', q{LOAD 'acdat_bgw'; SET acdat_bgw.max_matches = 5}), '',
	'settings of a session can be changed');
is(sql_error($node, 'postgres', q{LOAD 'acdat_bgw'; SELECT acdat.contains('x', machine) FROM machine}), '',
	'LOAD works');
like(sql_error($node, 'postgres', q{LOAD 'acdat_bgw'; SELECT acdat.contains('x', 'd')}),
	qr/ERROR:  55000:/, 'and is not enough for dictionaries');
is(sql_error($node, 'postgres', q{SET client_min_messages = warning;
		DROP EXTENSION acdat_bgw CASCADE; CREATE EXTENSION acdat_bgw}), '',
	'DROP EXTENSION works');

# ---- With the line ----

# The hint is right: with that very line dictionaries work.
$node->append_conf('postgresql.conf', $LINE);
$node->restart;
is(publish($node, 'postgres', 'd', ['alpha']), 1, 'with that line and a restart publish() works');
is(sql($node, 'postgres', q{SELECT acdat.redact('an alpha', 'd')}), 'an *****',
	'and so do dictionary functions');

# And taken away again: rows stay, nothing answers as if there were none.
$node->append_conf('postgresql.conf', q{shared_preload_libraries = ''});
$node->restart;
like(sql_error($node, 'postgres', q{SELECT acdat.redact('an alpha', 'd')}),
	qr/ERROR:  55000:/, 'without it text is not passed through');
is(sql($node, 'postgres', q{SELECT name, version, state IS NULL FROM acdat.dictionaries}), 'd|1|t',
	'the view still shows the dictionary, without a state');
sql($node, 'postgres', 'DELETE FROM acdat.dictionary_version; DELETE FROM acdat.dictionary');
is(sql($node, 'postgres', 'SELECT count(*) FROM acdat.dictionaries'), 0, 'the tables can be edited');

$node->stop;
done_testing();
