# Words of a dictionary are hidden in the server log: in every part of a
# report, in every destination, in every kind of process; clients see their
# own text.

use strict;
use warnings;

use AcdatTest;
use PostgreSQL::Test::Utils;
use Test::More;

my @words = ('zanzibar', 'quokka', 'Müßig', '4111111111111111');
my $word = qr/zanzibar|quokka|Müßig|M\\u|4111111111111111/i;
my $withheld = qr/\[redacted: dictionary is not loaded\]/;
my $conf = <<'CONF';
logging_collector = on
log_destination = 'stderr,csvlog,jsonlog'
log_directory = 'log'
log_filename = 'server.log'
log_rotation_age = 0
log_rotation_size = 0
log_line_prefix = '%m [%p] %q%a '
log_error_verbosity = verbose
log_parameter_max_length_on_error = -1
log_connections = on
log_disconnections = on
acdat_bgw.log_dictionary = 'secrets'
session_preload_libraries = 'auto_explain'
auto_explain.log_min_duration = 0
auto_explain.log_nested_statements = on
auto_explain.log_analyze = on
CONF

my $node = new_node('log',
	conf => $conf, extension => 0, init => { allows_streaming => 1 });
my @kinds = ('stderr', 'csvlog', 'jsonlog');
my %file = (
	stderr => $node->data_dir . '/log/server.log',
	csvlog => $node->data_dir . '/log/server.csv',
	jsonlog => $node->data_dir . '/log/server.json');
my $marks = 0;

# The collector writes in its own time: a report that comes later than those of
# interest, known by its SQLSTATE, is waited for in each file.
sub logs
{
	my $mark = sprintf 'ZZ%03d', ++$marks;
	my %text;

	sql($node, 'postgres', "DO \$\$BEGIN RAISE LOG 'mark' USING ERRCODE = '$mark'; END\$\$");
	ok(0, 'the logs are written') if !poll_until(sub {
			%text = map { $_ => slurp_file($file{$_}) } @kinds;
			return !grep { $text{$_} !~ m/\b$mark\b/ } @kinds });
	return \%text;
}

# What was logged since offsets that logs() gave, by destination.
sub since
{
	my ($before) = @_;
	my $after = logs();

	return { map { $_ => substr($after->{$_}, length $before->{$_}) } @kinds };
}

sub hidden
{
	my ($what, $log, $expected) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;

	foreach my $kind (@kinds)
	{
		my @found = grep { m/$word/ } split /\n/, $log->{$kind};

		is("@found", '', "$what: no word in $kind");
		ok($log->{$kind} =~ $expected, "$what: it is reported in $kind");
	}
	return;
}

# Wait until statements are no longer withheld.
sub log_is_redacted
{
	return poll_until(sub {
			my $start = logs();

			sql_error($node, 'postgres', 'SELECT 1/0 AS probe');
			return since($start)->{stderr} =~ m/STATEMENT:  SELECT 1\/0 AS probe/ });
}

# ---- Before there is a dictionary ----

my $error = sql_error($node, 'postgres', q(SELECT 'quokka'::int));
like($error, qr/"quokka"/, 'a client sees its error without a dictionary');
my $text = slurp_file($file{stderr});
ok(poll_until(sub { ($text = slurp_file($file{stderr})) =~ m/22P02/ }), 'the error is logged');
like($text, qr/ERROR:  22P02: $withheld invalid input syntax for type %s: \\?"%s\\?"/,
	'of a message its format remains');
like($text, qr/STATEMENT:  $withheld\n/, 'the statement is withheld');
like($text, qr/database system is ready to accept connections/,
	'what the postmaster says of itself is not withheld');
unlike($text, $word, 'and no word is there');

sql($node, 'postgres', 'CREATE EXTENSION acdat_bgw');
publish($node, 'postgres', 'secrets', \@words,
	cluster => 'true', case_insensitive => quote_text('unicode'));
ok(log_is_redacted(), 'when the dictionary is published the log is no longer withheld');

# ---- Failing statements ----

my $before = logs();
sql($node, 'postgres', 'CREATE TABLE t (a text PRIMARY KEY, b int)');
sql($node, 'postgres', q(INSERT INTO t VALUES ('quokka', 1)));
$error = sql_error($node, 'postgres', q(INSERT INTO t VALUES ('quokka', 2)));
like($error, qr/Key \(a\)=\(quokka\) already exists/, 'the client sees the detail');
hidden('unique violation', since($before), qr/Key \(a\)=\(\*{6}\) already exists/);

$before = logs();
$error = sql_error($node, 'postgres', 'SELEKT zanzibar, 4111111111111111');
like($error, qr/SELEKT.*zanzibar/, 'the client sees the line of its syntax error');
hidden('syntax error', since($before), qr/SELEKT \*{8}, \*{16}/);

$before = logs();
$error = sql_error($node, 'postgres', <<'SQL');
DO $$BEGIN RAISE EXCEPTION 'message ZANZIBAR' USING DETAIL = 'detail müssig MÜSSIG Müßig',
	HINT = 'hint quokka', ERRCODE = 'P0099'; END$$
SQL
like($error, qr/P0099: message ZANZIBAR\nDETAIL:  detail müssig MÜSSIG Müßig\nHINT:  hint quokka/,
	'the client sees all parts of what is raised');
hidden('raise', since($before), qr/message \*{8}/);

$before = logs();
$error = sql_error($node, 'postgres', q(DO $$BEGIN EXECUTE 'SELECT zanzibar'; END$$));
like($error, qr/QUERY:  SELECT zanzibar\nCONTEXT/, 'the client sees the internal query');
hidden('internal query', since($before), qr/SELECT \*{8}/);

$before = logs();
sql($node, 'postgres', q(DO $$BEGIN RAISE LOG 'quokka in a LOG line'; END$$));
hidden('log line', since($before), qr/\*{6} in a LOG line/);

# ---- Bind parameters, durations, plans ----

my $session = session($node, 'postgres');

$before = logs();
$session->query(q(SET log_min_duration_statement = 0; SET application_name = 'quokka app'));
is($session->query(q(SELECT 'zanzibar')), 'zanzibar', 'a statement with a word');
$session->query('PREPARE p AS SELECT $1::text, 1 / $2::int');
$session->error(q(EXECUTE p('4111111111111111', 0)));
hidden('durations, plans, prepared statements', since($before), qr/\*{6} app/);
$session->query('RESET application_name');

$before = logs();
$node->pgbench('--client=1 --transactions=1 --no-vacuum --protocol=prepared', 2,
	[], [qr/division by zero/], 'bind parameters',
	{ '060_bind' => "\\set zero 0\n\\set card 4111111111111111\nSELECT :card::bigint / :zero;\n" });
hidden('bind parameters', since($before), qr/\$1 = '\*{16}'/);

$before = logs();
$session->query(<<'SQL');
CREATE FUNCTION nested(w text) RETURNS bigint LANGUAGE plpgsql AS
$$BEGIN RETURN (SELECT count(*) FROM t WHERE a = w OR a = 'zanzibar'); END$$
SQL
$session->query(q(SELECT nested('quokka')));
hidden('auto_explain', since($before), qr/'\*{8}'::text/);

# ---- States of processes ----

$before = logs();
$session->error(q(BEGIN; SELECT 1/0));
my $aborted = $session->error(q(SELECT 'zanzibar'));
like($aborted, qr/25P02/, 'the transaction is aborted');
$session->error('ROLLBACK');
hidden('aborted transaction', since($before), qr/SELECT '\*{8}'/);

$before = logs();
my $long = 'x ' x 200_000;
$session->error("SELECT 1/0, 'quokka $long zanzibar', '$long quokka'");
my $log = since($before);
hidden('long statement', $log, qr/\[redacted: text is too long\]/);
like($log->{stderr}, qr/SELECT 1\/0, '\*{6} x x/, 'what fits of a long statement is there');

$session->quit;
$before = logs();
{
	local $ENV{PGAPPNAME} = 'zanzibar';

	sql($node, 'postgres', 'SELECT 1');
}
poll_until(sub { slurp_file($file{stderr}) =~ m/\*{8} LOG:  00000: disconnection: session time/ });
$log = since($before);
hidden('first and last lines of a process', $log, qr/disconnection: session time: 0:00:0/);
like($log->{stderr}, qr/connection received: host=\[local\]/, 'they are not withheld');
like($log->{stderr}, qr/application_name=\*{8}/, 'the name of the application is masked');

$before = logs();
sql($node, 'postgres', q(SELECT pg_create_physical_replication_slot('zanzibar'); CHECKPOINT));
$node->psql('postgres', 'START_REPLICATION SLOT quokka 0/0', replication => 'database');
$node->psql('postgres', 'IDENTIFY_SYSTEM; SELECT zanzibar', replication => 'database');
hidden('walsender', since($before), qr/replication slot \\?"+\*{6}\\?"+ does not exist/);
ok(poll_until(sub { slurp_file($file{stderr}) =~ m/LOG:  00000: checkpoint complete/ }),
	'the checkpointer writes its lines');
sql($node, 'postgres', q(SELECT pg_drop_replication_slot('zanzibar')));

# A worker that is told to end, and what the postmaster repeats of a crash.
$before = logs();
$session = session($node, 'postgres');
$session->send_query(q(SELECT pg_sleep(600), 'quokka'));
ok($node->poll_query_until('postgres',
		q(SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event = 'PgSleep')),
	'a statement with a word runs');
kill 'KILL', $session->pid;
$session->quit;
ok($node->poll_query_until('postgres', 'SELECT true'), 'the server recovers from a crash');
ok(log_is_redacted(), 'and its log is soon no longer withheld');
$log = since($before);
hidden('crash', $log, qr/terminated by signal 9/);
like($log->{stderr}, qr/DETAIL:  $withheld/, 'the statement that crashed is withheld');

$before = logs();
$session = session($node, 'postgres');
$session->send_query(q(SELECT pg_sleep(600), 'quokka'));
ok($node->poll_query_until('postgres',
		q(SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep')),
	'a session is terminated');
like(($session->result)[1], qr/57P01/, 'and is told so');
hidden('terminated', since($before), qr/SELECT pg_sleep\(600\), '\*{6}'/);

# ---- Another server, another encoding ----

$node->backup('copy');

my $standby = PostgreSQL::Test::Cluster->new('standby');

$standby->init_from_backup($node, 'copy', has_streaming => 1);
$standby->start;
ok(poll_until(sub {
		sql_error($standby, 'postgres', q(SELECT 1/0, 'quokka'));
		slurp_file($standby->data_dir . '/log/server.log') =~ m/STATEMENT:  SELECT 1\/0, '\*{6}'/ }),
	'a standby hides the words, too');
unlike(slurp_file($standby->data_dir . '/log/server.log'), $word, 'and wrote none before');
$standby->stop;

sql($node, 'postgres', q(CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'));
$before = logs();
$session = session($node, 'latin');
$session->query(q(SET client_encoding = 'UTF8'));
like($session->error(q(SELECT 1/0, 'Müßig')), qr/22012/, 'a statement in another encoding');
$session->error(q(SELECT 1/0, 'quokka'));
$session->quit;
$log = since($before);
like($log->{stderr}, qr/STATEMENT:  \[redacted: text in another encoding\]/,
	'text in another encoding is withheld');
hidden('another encoding', $log, qr/SELECT 1\/0, '\*{6}'/);

# ---- A later version, none, another setting ----

publish($node, 'postgres', 'secrets', [ @words, 'wombat' ],
	cluster => 'true', case_insensitive => quote_text('unicode'));
ok(poll_until(sub {
		my $start = logs();
		sql_error($node, 'postgres', 'SELECT wombat');
		return since($start)->{stderr} !~ m/wombat/ }),
	'words of a later version are hidden');

$session = session($node, 'postgres');
$session->error('SELECT quokka');
my $segment = segment_of($node, 'secrets');
my $maps = '/proc/' . $session->pid . '/maps';
like(slurp_file($maps), qr/ r--s .*\Q${\segment_file($segment)}\E/,
	'who wrote to the log maps the machine read-only');
sql($node, 'postgres', q(SELECT acdat.drop_dictionary('secrets')));
ok(poll_until(sub { slurp_file($maps) !~ m/\Q${\segment_file($segment)}\E/ }),
	'an idle session lets go of a dictionary that was dropped');
$before = logs();
like($session->error(q(SELECT 'quokka'::int)), qr/"quokka"/, 'clients see their text');
hidden('dropped', since($before), qr/\[redacted: dictionary is not loaded\] invalid input syntax/);
$session->quit;

$node->append_conf('postgresql.conf', "acdat_bgw.log_dictionary = ''");
$node->reload;
$session = session($node, 'postgres');
ok($session->query('SHOW acdat_bgw.log_dictionary') eq '', 'the setting is reloaded');
$before = logs();
$session->error(q(SELECT 'quokka'::int));
$log = since($before);
like($log->{$_}, qr/quokka/, "without the setting nothing is hidden in $_") foreach @kinds;
$session->quit;
like(sql_error($node, 'postgres', q(SET acdat_bgw.log_dictionary = 'x')), qr/55P02/,
	'a session cannot change the setting');

# ---- Lines without words are the same with the setting and without ----

# What differs from line to line, and not by what is in it.
sub plain
{
	my ($log) = @_;

	$log =~ s/^.*?(ERROR|LOG|STATEMENT|LOCATION|DETAIL|HINT|CONTEXT|QUERY)/$1/mg;
	$log =~ s/ZZ\d{3}/mark/g;
	$log =~ s/^LOG:  00000: (dis)?connection .*\nLOCATION:.*\n//mg;
	$log =~ s/^LOG:  00000: disconnection: .*\nLOCATION:.*\n//mg;
	$log =~ s/duration: \S+ ms/duration/g;
	$log =~ s/cost=\S+.*$/cost/mg;
	return $log;
}

sub plain_lines
{
	my $start = logs();

	sql_error($node, 'postgres', q(INSERT INTO t VALUES ('other', 1), ('other', 2)));
	sql_error($node, 'postgres', q(DO $$BEGIN EXECUTE 'SELECT nothing'; END$$));
	return plain(since($start)->{stderr});
}

my $without = plain_lines();
publish($node, 'postgres', 'secrets', \@words, cluster => 'true');
$node->append_conf('postgresql.conf', "acdat_bgw.log_dictionary = 'secrets'");
$node->reload;
ok(log_is_redacted(), 'the dictionary is used again');
is(plain_lines(), $without, 'lines without words are the same with the setting and without');
$node->stop;

# ---- Other kinds of shared memory ----

foreach my $memory (
	'dynamic_shared_memory_type = mmap',
	'dynamic_shared_memory_type = sysv',
	'min_dynamic_shared_memory = 16MB')
{
	my $other = new_node('memory' . ++$marks,
		conf => "acdat_bgw.log_dictionary = 'secrets'\n$memory\n");

	publish($other, 'postgres', 'secrets', \@words, cluster => 'true');
	ok(poll_until(sub {
			sql_error($other, 'postgres', q(SELECT 1/0, 'quokka'));
			slurp_file($other->logfile) =~ m/STATEMENT:  SELECT 1\/0, '\*{6}'/ }),
		"words are hidden with $memory");
	unlike(slurp_file($other->logfile), $word, 'and none is written before');
	$other->stop;
}

# ---- A critical section ----

# A process that cannot make the next file of the WAL panics.
my $panicking = new_node('panic', conf => "acdat_bgw.log_dictionary = 'files'\n");
my $wal = $panicking->data_dir . '/pg_wal';

publish($panicking, 'postgres', 'files', ['xlogtemp'], cluster => 'true');
ok(poll_until(sub {
		sql_error($panicking, 'postgres', q(SELECT 1/0, 'xlogtemp'));
		slurp_file($panicking->logfile) =~ m/STATEMENT:  SELECT 1\/0, '\*{8}'/ }),
	'a dictionary for a part of a message of a critical section');
chmod 0500, $wal;
ok(poll_until(sub {
		sql_error($panicking, 'postgres',
			q(SELECT pg_logical_emit_message(false, '', 'some WAL'), pg_switch_wal()));
		slurp_file($panicking->logfile) =~ m/PANIC:/ }),
	'a process panics');
chmod 0700, $wal;
like(slurp_file($panicking->logfile), qr/PANIC:  could not create file "pg_wal\/\*{8}\.\d+"/,
	'the word is masked in a critical section');
$panicking->stop('immediate');

done_testing();
