# After a restart and after the death of any process every dictionary answers
# again by itself.

use strict;
use warnings;

use AcdatTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('restart');
my @words = qw(alpha beta gamma delta);

# What each dictionary finds, by database and name.
my %expected = (
	'postgres d' => 'beta',
	'postgres empty' => '',
	'postgres rule' => 'gamma delta',
	'second d' => 'delta',
	'second rule' => 'gamma delta');

sql($node, 'postgres', 'CREATE DATABASE second');
sql($node, 'second', 'CREATE EXTENSION acdat_bgw');
begin_anew();
publish($node, 'postgres', 'empty', [], allow_empty => 'true');
publish($node, 'postgres', 'rule', [ 'gamma', 'delta' ], cluster => 'true');
publish($node, 'second', 'd', ['delta']);
publish($node, 'postgres', 'gone', ['alpha']);
sql($node, 'postgres', q{SELECT acdat.drop_dictionary('gone')});

# Dictionary d of the first database, in its second version.
sub begin_anew
{
	sql($node, 'postgres', q{SELECT acdat.drop_dictionary(name)
		FROM acdat.dictionaries WHERE name = 'd'});
	publish($node, 'postgres', 'd', ['alpha']);
	publish($node, 'postgres', 'd', ['beta']);
	return;
}

# The very first statements a client can make get the right answers: what is
# not loaded yet is waited for, not missed.
sub all_answer
{
	my ($when) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;

	ok($node->poll_query_until('postgres', 'SELECT true'), "the server accepts connections $when");
	foreach my $key (sort keys %expected)
	{
		my ($database, $name) = split / /, $key;

		is(sql($node, $database, answer($name, @words)), $expected{$key},
			"dictionary $name answers in database $database $when");
	}
	like(sql_error($node, 'postgres', q{SELECT acdat.contains('alpha', 'gone')}),
		qr/ERROR:  42704:/, "a dropped dictionary does not come back $when");
	ok(wait_for_states($node, undef, 'd:1:live d:2:live empty:1:live rule:1:live'),
		"the registry holds each dictionary once $when");
	return;
}

# Wait until another launcher than that one is at work.
sub other_launcher
{
	my ($pid) = @_;

	return $node->poll_query_until('postgres',
		"SELECT count(*) = 1 FROM acdat.worker WHERE kind = 'launcher' AND state = 'running' AND pid <> $pid");
}

# Wait until the server has noticed that one of its processes crashed.
sub crashed
{
	my ($offset) = @_;

	return $node->wait_for_log(
		qr/all server processes terminated; reinitializing/, $offset);
}

sub log_end
{
	return -s $node->logfile;
}

all_answer('at first');

# ---- Restart ----

$node->restart;
all_answer('after a restart');

my $session = session($node, 'postgres');
my $open = session($node, 'postgres');

# ---- The launcher ends ----

my $launcher = launcher_pid($node);
answer_is($session, 'd', \@words, 'beta', 'a session uses a dictionary');
is(sql($node, 'postgres', "SELECT pg_terminate_backend($launcher)"),
	't', 'the launcher can be terminated');
answer_is($session, 'd', \@words, 'beta', 'without a launcher a session goes on');
is(sql($node, 'postgres', answer('d', @words)), 'beta', 'and a new one begins');
is(publish($node, 'postgres', 'd', ['alpha']), 3,
	'a publish waits for the next launcher and works');
is(sql($node, 'postgres', q{SELECT acdat.rollback('d', 2)}), 4, 'so does a rollback');
ok(other_launcher($launcher), 'another launcher runs');
answer_is($session, 'd', \@words, 'beta', 'a session has followed');
ok(wait_for_states($node, 'd', '1:live 4:live'), 'superseded versions go again');
begin_anew();

# ---- kill -9 ----

# A publish that is not committed dies with the server.
$open->query('BEGIN');
$open->query(q{SELECT acdat.publish('d', ARRAY['gamma'])});
answer_is($open, 'd', \@words, 'gamma', 'a transaction has published');
my $offset = log_end();
kill 'KILL', $session->pid;
ok(crashed($offset), 'kill -9 of a backend makes the server start anew');
all_answer('after kill -9 of a backend');
is(sql($node, 'postgres', q{SELECT string_agg(version::text, ' ' ORDER BY version)
		FROM acdat.versions WHERE name = 'd'}),
	'1 2', 'what was not committed left no rows');
$_->quit foreach ($session, $open);

$launcher = launcher_pid($node);
$offset = log_end();
kill 'KILL', $launcher;
ok(crashed($offset), 'kill -9 of the launcher makes the server start anew');
all_answer('after kill -9 of the launcher');
isnt(launcher_pid($node), $launcher, 'another launcher runs after kill -9');
is(publish($node, 'postgres', 'd', ['alpha']), 3, 'publishing works after kill -9 of the launcher');
is(sql($node, 'postgres', answer('d', @words)), 'alpha', 'and is seen at once');
is(sql($node, 'postgres', q{SELECT acdat.rollback('d', 2)}), 4, 'the old version can be restored');
begin_anew();

# ---- Immediate stop ----

$session = session($node, 'postgres');
$session->query('BEGIN');
$session->query(q{SELECT acdat.publish('d', ARRAY['gamma'])});
$node->stop('immediate');
$session->quit;
$node->start;
all_answer('after an immediate stop');

# Nothing of the former lives is left: as many segments as machines, and the
# server's own.
my $segments = cluster_segments($node);
my @machines = split /\n/,
  sql($node, 'postgres', 'SELECT segment FROM acdat.generations');
is(scalar(grep { " $segments " =~ / $_ / } @machines), 4, 'each dictionary has its segment');
is(scalar(grep { image_in($_) } split / /, $segments),
	4, 'there is no other machine in shared memory');

# Does a segment begin as a machine does?
sub image_in
{
	my ($segment) = @_;

	return -e segment_file($segment)
	  && substr(slurp_file(segment_file($segment)), 0, 8) eq 'ACDATIMG';
}

# ---- While compiling ----

# Either end of a publish dies in the middle of it.
my $patterns = q{SELECT md5(i::text) AS pattern FROM generate_series(1, 80000) i};
$session = session($node, 'postgres');
my $publisher = session($node, 'postgres');

# Begin a large publish; returns the process that compiles it.
sub compiler_pid
{
	my $pid = '';

	$publisher->send_query("SELECT acdat.publish('d', \$q\$$patterns\$q\$)");
	poll_until(sub { $pid = $session->query(q{SELECT pid FROM acdat.worker
			WHERE kind = 'compiler' AND state = 'compiling'}) })
	  or die 'nothing is being compiled';
	return $pid;
}

$segments = cluster_segments($node);
my $compiler = compiler_pid();
answer_is($session, 'd', \@words, 'beta', 'while a version compiles the old one serves');
$session->query("SELECT pg_terminate_backend($compiler)");
like(($publisher->result)[1], qr/ERROR:  .*terminated/,
	'a publish fails when the process that compiles for it is terminated');
answer_is($publisher, 'd', \@words, 'beta', 'the publisher can go on');
ok(wait_for_states($node, 'd', '1:live 2:live'), 'that leaves nothing in the registry');
ok(wait_for_segments($node, $segments), 'nor in shared memory');

compiler_pid();
$session->query('SELECT pg_terminate_backend(' . $publisher->pid . ')');
ok($node->poll_query_until('postgres',
		q{SELECT count(*) = 0 FROM acdat.worker WHERE kind = 'compiler'}),
	'the compilation stops when the publisher is terminated');
ok(wait_for_states($node, 'd', '1:live 2:live'), 'which leaves nothing in the registry either');
ok(wait_for_segments($node, $segments), 'nor in shared memory');
answer_is($session, 'd', \@words, 'beta', 'and the old version serves');
$_->quit foreach ($session, $publisher);

# ---- While loading ----

# A statement that cannot wait says so; it does not say that the dictionary
# does not exist, nor that nothing matches.
publish($node, 'postgres', 'large', $patterns);
$node->restart;
my ($answer, $error);
$node->psql('postgres',
	q{SET acdat_bgw.load_timeout = 0; SELECT acdat.contains(md5('7'), 'large')},
	stdout => \$answer, stderr => \$error);
ok($answer eq 't' || $error =~ m/dictionary "large" is not loaded yet/,
	'a look-up that may not wait for a load finds the dictionary or says that it is not loaded');
is(sql($node, 'postgres', q{SELECT acdat.contains(md5('7'), 'large'), acdat.contains('x', 'large')}),
	't|f', 'one that may wait gets the answer');
is(sql($node, 'second', answer('d', @words)), 'delta', 'others are not held up');

$node->stop('fast');
done_testing();
