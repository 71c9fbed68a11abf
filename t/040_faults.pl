# At every step of publishing, compiling, loading, reclaiming, mapping and
# attaching (shmem/fault.h) a process fails, runs out of memory, ends or is
# killed.  The statement fails or is done, never something between; the server
# serves; the same works afterwards; and nothing is left.
#
# Needs a library compiled for it: make check-faults.  ACDAT_FAULT_STEPS is a
# pattern for the faults to try, "step kind" each.

use strict;
use warnings;

use AcdatTest;
use PostgreSQL::Test::Utils;
use Test::More;

chomp(my $folder = `$ENV{PG_CONFIG} --pkglibdir`);
if (index(slurp_file("$folder/acdat_bgw.so"), 'acdat_fault_steps') < 0)
{
	plan skip_all => 'the library has no faults compiled in; use make check-faults';
}

# One of the large dictionaries fits, besides what is compiled meanwhile.
my $node = new_node('faults', conf => <<"CONF");
acdat_bgw.max_memory = 20MB
statement_timeout = ${PostgreSQL::Test::Utils::timeout_default}s
CONF
my $large = q(SELECT md5(i::text) || '%s' AS pattern FROM generate_series(1, 30000) i);

sql($node, 'postgres', <<'SQL');
CREATE FUNCTION steps() RETURNS text LANGUAGE c AS 'acdat_bgw', 'acdat_fault_steps';
CREATE FUNCTION arm(text, text) RETURNS void LANGUAGE c STRICT AS 'acdat_bgw', 'acdat_fault_arm';
CREATE FUNCTION residue() RETURNS text LANGUAGE c AS 'acdat_bgw', 'acdat_fault_residue';
CREATE TABLE source (n int);
INSERT INTO source VALUES (1);
SELECT acdat.publish('d', ARRAY['v1.']);
SELECT acdat.publish('q', 'SELECT ''n'' || n || ''.'' AS pattern FROM source');
SELECT acdat.attach('q', 'source', debounce => '0');
CREATE DATABASE mould;
SQL
sql($node, 'mould', <<'SQL');
CREATE EXTENSION acdat_bgw;
CREATE TABLE source (n int);
SELECT acdat.publish('c', 'SELECT ''old'' AS pattern UNION ALL SELECT ''n'' || n || ''.'' AS pattern FROM source');
SELECT acdat.attach('c', 'source', debounce => '0');
SQL
# Loaders keep out of templates.
sql($node, 'postgres', 'ALTER DATABASE mould IS_TEMPLATE true');
publish($node, 'postgres', 'big1', sprintf($large, 'a'));
publish($node, 'postgres', 'big2', sprintf($large, 'b'));
$node->restart;
ok($node->poll_query_until('postgres', q(SELECT residue() = '' AND acdat.contains('v1.', 'd'))),
	'the server is at rest');

# The fault that is armed, and where the log was then.
my ($fault, $offset) = ('', 0);

# ---- What is tried: each returns what is wrong with the outcome ----

# Statements in a session of their own, of which all are run; errors.
sub attempt
{
	my ($database, @statements) = @_;
	my ($stdout, $stderr) = ('', '');

	$node->psql($database, join(";\n", @statements) . ";\n",
		stdout => \$stdout, stderr => \$stderr, on_error_stop => 0);
	return $stderr;
}

# Whether a change must have come about: 1, 0, or undef when the connection
# was lost before the answer came.
sub outcome
{
	my ($errors) = @_;

	return undef if $errors =~ m/connection to server was lost|server closed the connection/;
	return $errors =~ m/ERROR:/ ? 0 : 1;
}

sub unlike_outcome
{
	my ($what, $expected, $found) = @_;

	return () if !defined $expected || !$expected == !$found;
	return "$what " . ($found ? 'although it failed' : 'is missing');
}

# The number of the current version of d; its content and rows must be right.
sub version
{
	my ($problems) = @_;
	my $found = sql($node, 'postgres', <<'SQL');
SELECT version,
	acdat.contains('v' || version || '.', 'd') AND
		NOT acdat.contains('v' || version - 1 || '. v' || version + 1 || '.', 'd'),
	(SELECT string_agg(v.version::text, ' ' ORDER BY v.version) FROM acdat.dictionary_version v WHERE v.dictionary = d.id)
		= (SELECT string_agg(n::text, ' ' ORDER BY n) FROM generate_series(greatest(version - 2, 1), version) n)
FROM acdat.dictionary d WHERE name = 'd'
SQL
	push @$problems, "d is wrong: $found" unless $found =~ m/^(\d+)\|t\|t$/;
	return $1 // 0;
}

# Publish d by a statement that is given the next number.  The launcher may have
# its fault before that.
sub try_publish
{
	my ($statement, $old) = @_;
	my @problems;
	my $new = $old + 1;
	my $errors = attempt('postgres', $statement =~ s/%n/$new/gr,
		"SELECT acdat.contains('v$old. v$new.', 'd')");
	my $aborted = $statement =~ m/ROLLBACK/;
	my $expected = $aborted ? 0 : outcome($errors =~ s/FATAL/ERROR/gr);

	recover();
	return (@problems,
		unlike_outcome('the version', $expected, version(\@problems) == $new), @problems);
}

my $publish = q(SELECT acdat.publish('d', ARRAY['v%n.']));
my $publish_large = q(SELECT acdat.publish('d',
	ARRAY['v%n.'] || ARRAY(SELECT md5(i::text) FROM generate_series(1, 30000) i)));

# Back to the version before the last, and to the last again: two new ones,
# whose contents are not those of their numbers.
sub try_rollback
{
	my @problems;
	my $old = version(\@problems);
	my $expected = outcome(attempt('postgres', "SELECT acdat.rollback('d', $old)"));

	recover();
	my $now = sql($node, 'postgres', q(SELECT version FROM acdat.dictionary WHERE name = 'd'));
	my $answers = sql($node, 'postgres', "SELECT acdat.contains('v$old.', 'd')");

	push @problems, 'd does not answer' if $answers ne 't';
	push @problems, unlike_outcome('the version', $expected, $now == $old + 1);
	attempt('postgres', $publish =~ s/%n/$now + 1/er);
	return @problems;
}

# A dictionary t is dropped, renamed to u, or given a reader.
sub try_change
{
	my ($statement, $is_done) = @_;
	my $expected = outcome(attempt('postgres', $statement));
	my @problems;

	recover();
	my $found = sql($node, 'postgres',
		"SELECT count(*) > 0 FROM acdat.dictionary WHERE $is_done") eq 't';
	$found = !$found if $statement =~ m/drop/;
	push @problems, unlike_outcome('the change', $expected, $found);
	my $name = sql($node, 'postgres', q(SELECT name FROM acdat.dictionary WHERE name IN ('t', 'u')));
	push @problems, "$name does not answer"
	  if $name ne '' && sql($node, 'postgres', "SELECT acdat.contains('t', '$name')") ne 't';
	attempt('postgres', $found || $statement eq '' ? 'SELECT 1' : $statement);
	push @problems, 'the change cannot be made'
	  if $statement !~ m/drop/ && sql($node, 'postgres', "SELECT count(*) FROM acdat.dictionary WHERE $is_done") ne '1';
	$name = sql($node, 'postgres', q(SELECT name FROM acdat.dictionary WHERE name IN ('t', 'u')));
	attempt('postgres', "SELECT acdat.drop_dictionary('$name')") if $name ne '';
	push @problems, 'the dictionary stays'
	  if sql($node, 'postgres', q(SELECT count(*) FROM acdat.generations WHERE dictionary IN ('t', 'u') AND state = 'live')) ne '0';
	return @problems;
}

# A database is cloned, used and dropped.  What failed to load says why.
sub try_clone
{
	my $seen = '';
	my @problems;

	attempt('postgres', 'CREATE DATABASE clone TEMPLATE mould');
	attempt('clone', q(SELECT acdat.contains('old', 'c')));
	recover() if $fault !~ m/^review/;
	attempt('postgres', 'CREATE DATABASE clone TEMPLATE mould')
	  if sql($node, 'postgres', q(SELECT count(*) FROM pg_database WHERE datname = 'clone')) eq '0';
	poll_until(sub {
		my ($stdout, $stderr) = ('', '');

		$node->psql('clone', q(SELECT acdat.contains('old', 'c')), stdout => \$stdout, stderr => \$stderr);
		$seen = "$stdout$stderr";
		return $seen eq 't';
	}) or push @problems, "the clone does not answer: $seen";
	poll_until(sub { sql($node, 'clone', q(SELECT ended_at IS NOT NULL FROM acdat.attachments)) eq 't' })
	  or push @problems, 'the attached dictionary of the clone was not looked at';
	attempt('clone', q(INSERT INTO source VALUES (1)));
	poll_until(sub { attempt('clone', q(DO $$BEGIN ASSERT acdat.contains('n1.', 'c'); END$$)) eq '' })
	  or push @problems, 'the clone cannot be published again';
	poll_until(sub { attempt('postgres', 'DROP DATABASE IF EXISTS clone'); recover();
			sql($node, 'postgres', q(SELECT count(*) FROM pg_database WHERE datname = 'clone')) eq '0' })
	  or push @problems, 'the clone cannot be dropped';
	return @problems;
}

# A dictionary that had to make room is used.
sub try_wanted
{
	my @problems;
	my $evicted = sql($node, 'postgres',
		q(SELECT coalesce(min(dictionary), '') FROM acdat.generations WHERE state = 'evicted' AND dictionary LIKE 'big_'));
	my $ask = "SELECT acdat.contains(md5('7') || translate(right('$evicted', 1), '12', 'ab'), '$evicted')";
	attempt('postgres', $ask, $ask);
	recover();
	my ($stdout, $stderr) = ('', '');
	poll_until(sub {
		$node->psql('postgres', $ask, stdout => \$stdout, stderr => \$stderr);
		return $stdout ne '' || $stderr !~ m/fit|load/;
	});
	push @problems, "$evicted does not answer: $stdout$stderr" if $stdout ne 't';
	return @problems;
}

sub try_lookup
{
	my @problems;

	attempt('postgres', (q(SELECT acdat.contains('v1.', 'd'))) x 2);
	recover();
	version(\@problems);
	return @problems;
}

# A table that a dictionary follows is changed.
sub try_attached
{
	my @problems;
	my $next = 1 + sql($node, 'postgres', 'SELECT max(n) FROM source');
	my $expected = outcome(attempt('postgres', "INSERT INTO source VALUES ($next)"));

	fired();
	recover();
	my $found = sql($node, 'postgres', "SELECT count(*) FROM source WHERE n = $next");
	push @problems, unlike_outcome('the row', $expected, $found);
	push @problems, 'q does not answer'
	  unless sql($node, 'postgres', q(SELECT acdat.contains('n1.', 'q'))) eq 't';
	$next++;
	sql($node, 'postgres', "INSERT INTO source VALUES ($next)");
	poll_until(sub { sql($node, 'postgres', "SELECT acdat.contains('n$next.', 'q')") eq 't' })
	  or push @problems, 'q does not follow its table';
	return @problems;
}

sub try_republish
{
	my $expected = outcome(attempt('postgres', q(SELECT acdat.republish('q'))));

	recover();
	return sql($node, 'postgres', q(SELECT acdat.republish('q') > 0 AND acdat.contains('n1.', 'q'))) eq 't'
	  ? () : ('q cannot be published again');
}

# Attach and detach, with a dictionary that is there for that.
sub try_attach
{
	my ($statement) = @_;
	my $count = q(SELECT count(*) FROM pg_trigger WHERE tgrelid = 'other'::regclass);

	attempt('postgres', 'CREATE TABLE other AS SELECT 1 AS n');
	attempt('postgres', q(SELECT acdat.attach('q', 'other'))) if $statement =~ m/detach/;
	my $before = sql($node, 'postgres', $count);
	my $expected = outcome(attempt('postgres', $statement));
	recover();
	my @problems = unlike_outcome('the change', $expected, $before != sql($node, 'postgres', $count));
	attempt('postgres', $statement);
	push @problems, 'it cannot be done' if sql($node, 'postgres', $count) != 1 - $before;
	attempt('postgres', 'DROP TABLE other');
	return @problems;
}

# ---- Which of these passes which step ----

my %way = (
	publish => sub { try_publish($publish, @_) },
	large => sub { try_publish($publish_large, @_) },
	abort => sub { try_publish("BEGIN;\n$publish;\nROLLBACK", @_) },
	rollback => \&try_rollback,
	drop => sub { try_change(q(SELECT acdat.drop_dictionary('t')), q(name = 't')) },
	rename => sub { try_change(q(SELECT acdat.rename_dictionary('t', 'u')), q(name = 'u')) },
	reader => sub { try_change(q(SELECT acdat.set_reader('t', 'public')), q(name = 't' AND reader = 'public')) },
	clone => \&try_clone,
	wanted => \&try_wanted,
	lookup => \&try_lookup,
	attached => \&try_attached,
	republish => \&try_republish,
	attach => sub { try_attach(q(SELECT acdat.attach('q', 'other'))) },
	detach => sub { try_attach(q(SELECT acdat.detach('q', 'other'))) });

my @ways = (
	[ qr/^publish_aborted/ => 'abort' ],
	[ qr/^publish_(committed|committing)/ => 'publish' ],
	[ qr/^publish_(entered|rows)/ => qw(publish rollback attached) ],
	[ qr/^publish_/ => 'publish' ],
	[ qr/^republish_read/ => 'republish' ],
	[ qr/^rollback_read/ => 'rollback' ],
	[ qr/^drop_/ => 'drop' ],
	[ qr/^rename_/ => 'rename' ],
	[ qr/^reader_/ => 'reader' ],
	[ qr/^change_/ => qw(drop rename) ],
	[ qr/^compile_(taken|written|entered)/ => qw(publish large wanted clone) ],
	[ qr/^compile_/ => qw(publish) ],
	[ qr/^launch_round/ => 'publish' ],
	[ qr/^launch_(reaped|compiler)/ => 'large' ],
	[ qr/^launch_loader/ => 'clone' ],
	[ qr/^launch_publisher/ => 'attached' ],
	[ qr/^review_/ => 'clone' ],
	[ qr/^load_wanted/ => 'wanted' ],
	[ qr/^load_/ => 'clone' ],
	[ qr/^evict_/ => 'wanted' ],
	[ qr/^sweep_/ => 'publish' ],
	[ qr/^lookup_/ => 'wanted' ],
	[ qr/^map_/ => 'lookup' ],
	[ qr/^attach_created/ => 'attach' ],
	[ qr/^detach_/ => 'detach' ],
	[ qr/^(attach|publisher|request)_/ => 'attached' ]);

sub ways_of
{
	my ($step) = @_;

	foreach my $way (@ways)
	{
		my ($pattern, @names) = @$way;

		return @names if $step =~ $pattern;
	}
	return ();
}

# ---- One fault ----

# Did the fault come, in whatever process?
sub fired
{
	return poll_until(sub { slurp_file($node->logfile, $offset) =~ m/^acdat_bgw fault: \Q$fault\E$/m });
}

# After a fault that kills, wait until the server has started again.
sub recover
{
	fired() or return;
	return if $fault !~ m/ kill$/;
	poll_until(sub { slurp_file($node->logfile, $offset) =~ m/database system is ready to accept connections/ })
	  or diag 'the server does not start again';
	return;
}

# Segments beyond those of machines.
sub other_segments
{
	my %count = map { $_ => 1 } split / /, cluster_segments($node);

	delete @count{ split /\n/, sql($node, 'postgres',
		'SELECT segment FROM acdat.generations WHERE segment IS NOT NULL') };
	return scalar keys %count;
}

my $others = other_segments();

# What is there when nothing goes on.
sub left_over
{
	my @problems;
	my ($states, $residue, $segments);

	poll_until(sub { ($residue = sql($node, 'postgres', 'SELECT residue()')) eq '' })
	  or push @problems, "left over: $residue";
	poll_until(sub {
		$states = sql($node, 'postgres',
			q(SELECT string_agg(concat(dictionary, ':', state), ' ' ORDER BY dictionary, state) FROM acdat.generations));
		return $states =~ m/^big1:\w+ big2:\w+ d:live q:(live|evicted)$/;
	}) or push @problems, "states are $states";
	poll_until(sub { ($segments = other_segments()) == $others })
	  or push @problems, "$segments segments besides machines";
	push @problems, 'a job is left'
	  if sql($node, 'postgres', q(SELECT count(*) FROM acdat.worker WHERE kind = 'compiler')) ne '0';
	return @problems;
}

sub try_fault
{
	my ($way) = @_;
	my ($step, $kind) = split / /, $fault;
	my @problems;
	my $version = version(\@problems);

	return @problems if @problems;
	sql($node, 'postgres', q(SELECT acdat.publish('t', ARRAY['t']))) if $way =~ m/drop|rename|reader/;
	if ($way eq 'wanted')
	{
		# the one that is loaded makes room
		sql($node, 'postgres', q(SELECT acdat.contains('x', 'big1')));
		poll_until(sub { sql($node, 'postgres', q(SELECT residue())) eq '' });
	}
	$offset = -s $node->logfile;
	attempt('postgres', "SELECT arm('$step', '$kind')");
	@problems = eval { $way{$way}->($version) };
	push @problems, "failed: $@" if $@;
	unshift @problems, 'the step is not passed' unless fired();
	my @before = try_again() unless @problems;
	return (@problems, @before, left_over());
}

# Without a fault.
sub try_again
{
	my @problems;
	my $next = 1 + version(\@problems);

	return @problems if attempt('postgres', $publish =~ s/%n/$next/r) eq '' && version(\@problems) == $next;
	return (@problems, 'd cannot be published');
}

my $wanted = $ENV{ACDAT_FAULT_STEPS} // '.';
my @faults = split /\n/, sql($node, 'postgres', 'SELECT steps()');

cmp_ok(scalar @faults, '>', 100, 'there are faults to try');
foreach (grep { m/$wanted/ } @faults)
{
	my ($step) = split / /;
	my @names = ways_of($step);

	$fault = $_;
	fail("nothing passes the step of $fault") unless @names;
	is(join("\n", try_fault($_)), '', "$fault ($_)") foreach @names;
}

$node->stop;
done_testing();
