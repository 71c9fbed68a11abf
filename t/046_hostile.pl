# What others in the database may have put in the way, and how the server is
# run: names that look like ours, connection poolers, drops in one transaction,
# idle processes, shutdown.

use strict;
use warnings;

use AcdatTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('main');

# ---- Names that look like ours ----

sql($node, 'postgres', 'CREATE ROLE mallory LOGIN');
sql($node, 'postgres', "CREATE DATABASE $_ OWNER mallory") foreach 'taken', 'squatted';

# Tables of the same names that are not the extension's are nobody's business.
sql($node, 'squatted', <<'SQL', user => 'mallory');
CREATE SCHEMA acdat;
CREATE TABLE acdat.dictionary (id text, name text);
CREATE TABLE acdat.dictionary_version (dictionary text);
INSERT INTO acdat.dictionary VALUES ('1', 'd');
SQL

# Whoever owns the schema could put functions beside those of the extension.
sql($node, 'taken', 'CREATE SCHEMA acdat', user => 'mallory');
like(sql_error($node, 'taken', 'CREATE EXTENSION acdat_bgw'), qr/42501: .*schema "acdat".*\n.*HINT/s,
	'the extension is not created in a schema of somebody else');
is(sql($node, 'taken', q{SELECT count(*) FROM pg_proc WHERE pronamespace = 'acdat'::regnamespace}), 0,
	'and leaves nothing there');
sql($node, 'taken', 'DROP SCHEMA acdat; CREATE SCHEMA acdat; CREATE EXTENSION acdat_bgw');
is(publish($node, 'taken', 'd', ['alpha']), 1, 'one of the superuser is fine');

# A search path full of traps: none of them is stepped on.
sql($node, 'postgres', <<'SQL');
CREATE SCHEMA evil;
GRANT ALL ON SCHEMA evil TO mallory;
CREATE TABLE public.terms (pattern text);
INSERT INTO public.terms VALUES ('alpha');
CREATE FUNCTION evil.trap(a text, b text) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN RAISE 'trapped'; END$$;
CREATE FUNCTION evil.trap(a bytea, b bytea) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN RAISE 'trapped'; END$$;
CREATE FUNCTION evil.trap(a bigint, b bigint) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN RAISE 'trapped'; END$$;
CREATE FUNCTION evil.trap(a uuid, b uuid) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN RAISE 'trapped'; END$$;
CREATE FUNCTION evil.trap(a name, b name) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN RAISE 'trapped'; END$$;
CREATE OPERATOR evil.= (FUNCTION = evil.trap, LEFTARG = text, RIGHTARG = text);
CREATE OPERATOR evil.= (FUNCTION = evil.trap, LEFTARG = bytea, RIGHTARG = bytea);
CREATE OPERATOR evil.= (FUNCTION = evil.trap, LEFTARG = bigint, RIGHTARG = bigint);
CREATE OPERATOR evil.= (FUNCTION = evil.trap, LEFTARG = uuid, RIGHTARG = uuid);
CREATE OPERATOR evil.= (FUNCTION = evil.trap, LEFTARG = name, RIGHTARG = name);
CREATE OPERATOR evil.<> (FUNCTION = evil.trap, LEFTARG = text, RIGHTARG = text);
CREATE FUNCTION evil.substr(text, integer, integer) RETURNS text LANGUAGE plpgsql AS $$BEGIN RAISE 'trapped'; END$$;
CREATE FUNCTION evil.unnest(text[]) RETURNS SETOF text LANGUAGE plpgsql AS $$BEGIN RAISE 'trapped'; END$$;
CREATE FUNCTION evil.format(text, VARIADIC "any") RETURNS text LANGUAGE internal AS 'text_format';
CREATE FUNCTION evil.now() RETURNS timestamptz LANGUAGE plpgsql AS $$BEGIN RAISE 'trapped'; END$$;
SQL
foreach my $statement (
	q{SELECT acdat.publish('d', 'SELECT pattern FROM public.terms')},
	q{SELECT acdat.publish_if_changed('d', 'SELECT pattern FROM public.terms')},
	q{SELECT acdat.republish('d')},
	q{SELECT acdat.rollback('d', 1)},
	q{SELECT acdat.attach('d', 'public.terms')},
	q{SELECT * FROM acdat.attachments},
	q{SELECT acdat.detach('d', 'public.terms')},
	q{SELECT acdat.set_reader('d', 'public')},
	q{SELECT * FROM acdat.patterns('d')},
	q{SELECT * FROM acdat.diff('d', 1, 2)},
	q{SELECT * FROM acdat.preview('d', 'SELECT ''beta'' AS pattern', 'public.terms', 'pattern')},
	q{SELECT acdat.create_redacted_view('public.terms', 'd', ARRAY['pattern'])},
	q{SELECT * FROM acdat.dictionaries},
	q{SELECT * FROM acdat.versions},
	q{SELECT * FROM acdat.generations},
	q{SELECT * FROM acdat.worker},
	q{SELECT acdat.rename_dictionary('d', 'e')},
	q{SELECT acdat.drop_dictionary('e')})
{
	is(sql_error($node, 'postgres', <<"SQL"), '', "$statement does not mind the search path");
SET client_min_messages = warning;
CREATE TEMP TABLE dictionary (id integer);
CREATE TEMP TABLE dictionary_version (id integer);
CREATE TEMP TABLE pg_class (id integer);
SET search_path = pg_temp, evil, pg_catalog, acdat;
$statement;
SQL
}

# ---- Sessions that are used again ----

publish($node, 'postgres', 'd', ['alpha'], reader => "'public'");
my $session = session($node, 'postgres');

answer_is($session, 'd', [ 'alpha', 'beta' ], 'alpha', 'a pooled session scans');
$session->query($_) foreach 'DISCARD ALL', 'SET SESSION AUTHORIZATION mallory';
answer_is($session, 'd', [ 'alpha', 'beta' ], 'alpha', 'after DISCARD ALL, as another user, too');
publish($node, 'postgres', 'd', ['beta']);
$session->query('RESET SESSION AUTHORIZATION');
$session->query('DISCARD ALL');
answer_is($session, 'd', [ 'alpha', 'beta' ], 'beta', 'and follows what is published');
sql($node, 'postgres', q{SELECT acdat.drop_dictionary('d')});
publish($node, 'postgres', 'd', ['gamma']);
answer_is($session, 'd', [ 'beta', 'gamma' ], 'gamma',
	'a dictionary that was dropped and made anew is the new one');

# ---- The extension, dropped in all ways ----

foreach my $drop ('DROP EXTENSION acdat_bgw CASCADE', 'DROP SCHEMA acdat CASCADE')
{
	is(sql_error($node, 'postgres', <<"SQL"), '', "$drop and CREATE EXTENSION in one transaction");
SET client_min_messages = warning;
BEGIN;
$drop;
CREATE EXTENSION acdat_bgw;
SELECT acdat.publish('d', ARRAY['delta']);
SELECT acdat.contains('delta', 'd');
COMMIT;
SQL
	answer_is($session, 'd', [ 'gamma', 'delta' ], 'delta', 'a session sees the new dictionary');
	sql($node, 'postgres', q{SELECT acdat.drop_dictionary('d')});
	publish($node, 'postgres', 'd', ['gamma']);
}
is(sql_error($node, 'postgres', "BEGIN; DROP EXTENSION acdat_bgw CASCADE; ROLLBACK"),
	'', 'a drop that is rolled back');
answer_is($session, 'd', [ 'gamma', 'delta' ], 'gamma', 'changes nothing');
$session->quit;

# ---- Idle ----

# Clock ticks of processor time that the launcher has used.
sub launcher_ticks
{
	my @fields = split ' ', slurp_file('/proc/' . launcher_pid($node) . '/stat') =~ s/^.*\) //sr;

	return $fields[11] + $fields[12];
}

# Five looks at the tables, one each second.
my $ticks = launcher_ticks();
my $rounds = sql($node, 'postgres', q{SELECT extract(epoch FROM now()) + 5});

ok($node->poll_query_until('postgres', "SELECT extract(epoch FROM now()) > $rounds"), 'some rounds pass');
cmp_ok(launcher_ticks() - $ticks, '<=', 25, 'which cost the launcher next to nothing');
unlike(slurp_file($node->logfile), qr/acdat_bgw (launcher|loader).*(ERROR|FATAL)|could not load/,
	'and nothing was logged, also not of tables that only look like ours');
is(sql($node, 'postgres', q{SELECT count(*) FROM acdat.worker WHERE error IS NOT NULL}), 0,
	'no load failed');

# ---- The end ----

$node->append_conf('postgresql.conf', "synchronous_standby_names = 'nobody'\n");
$node->reload;
$node->stop('fast');
ok(!-e $node->data_dir . '/postmaster.pid', 'the server stops although its synchronous standby is away');
$node->append_conf('postgresql.conf', "synchronous_standby_names = ''\n");
$node->start;

my $launcher = launcher_pid($node);
my $postmaster = (split /\n/, slurp_file($node->data_dir . '/postmaster.pid'))[0];

$node->kill9;
ok(poll_until(sub { !kill 0, $launcher }), 'the launcher does not outlive the postmaster');
ok(poll_until(sub { !kill 0, $postmaster }), 'which is gone');
$node->start;
is(sql($node, 'postgres', answer('d', 'gamma', 'delta')), 'gamma', 'and the next one serves');
$node->stop;
done_testing();
