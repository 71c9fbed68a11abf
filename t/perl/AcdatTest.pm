# Helpers for the TAP tests, over PostgreSQL::Test::Cluster.
#
# A node made here preloads the library, looks at its tables every second
# and starts again after a crash.  Nothing here waits by sleeping a fixed
# time: every wait polls for a condition and fails when it does not come.
package AcdatTest;

use strict;
use warnings;

use Exporter qw(import);
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep time);

our @EXPORT = qw(
  new_node preload_conf passed_tests session parallel_session workers_launched sql sql_error quote_text quote_array publish answer answer_is
  poll_until wait_for_lock wait_for_states
  states_of segment_of cluster_segments segment_file wait_for_segments
  mapping_permissions private_dirty launcher_pid
  documented_statements run_documented
);

my $SHM = '/dev/shm/PostgreSQL.';

# ---- Pages ----

# The blocks of statements of a page, as hashes: line, sql, server (what
# follows "sql" on the fence) and, if a block of text comes next, output.
sub documented_statements
{
	my ($page) = @_;
	my $text = PostgreSQL::Test::Utils::slurp_file($page);
	my @blocks;

	while ($text =~ m/^```(sql|text)(.*)\n((?:.*\n)*?)^```$/mg)
	{
		my ($kind, $server, $body) = ($1, $2, $3);
		my $line = 1 + (substr($text, 0, $-[0]) =~ tr/\n//);

		if ($kind eq 'text')
		{
			$blocks[-1]{output} = normal_output($body);
			next;
		}
		push @blocks, { line => $line, sql => $body, server => $server =~ s/^ //r };
	}
	return @blocks;
}

# Output without what depends on the widths of columns: blanks at the ends
# of lines and around separators, lines of dashes, empty lines and the status
# of statements that return nothing.
sub normal_output
{
	my ($output) = @_;
	my @lines = grep { m/\S/ && !m/^[-+]+$/ && !m/^\(\d+ rows?\)$/ } split /\n/, $output;

	foreach my $line (@lines)
	{
		$line =~ s/ +\| +/ | /g;
		$line =~ s/^ +| +$//g;
	}
	return join("\n", @lines);
}

# Run statements one by one as a user would; output and errors.  Results of
# functions that return nothing are left out.
sub run_documented
{
	my ($node, $database, $statements) = @_;
	my ($stdout, $stderr) = ('', '');
	local $ENV{PGOPTIONS} = '-c client_min_messages=warning';

	IPC::Run::run([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr($database), '-f', '-' ],
		'<', \$statements, '>', \$stdout, '2>', \$stderr);
	$stdout =~ s/^ *\w+ *\n-+\n +\n\(1 row\)\n//mg;
	return (normal_output($stdout), $stderr);
}

# ---- Nodes ----

# Options: conf (text appended to postgresql.conf), preload (default 1),
# extension (default 1: created in database postgres), init (options of
# init()).
sub new_node
{
	my ($name, %option) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init(
		extra => [ '--encoding=UTF8', '--locale=C' ],
		%{ $option{init} || {} });
	$node->append_conf('postgresql.conf',
		common_conf($option{preload} // 1) . ($option{conf} // ''));
	$node->start;
	sql($node, 'postgres', 'CREATE EXTENSION acdat_bgw')
	  if $option{extension} // 1;
	return $node;
}

# Autovacuum is off because its snapshots would make the moment at which a
# superseded state can go depend on chance.
sub common_conf
{
	my ($preload) = @_;
	my $conf = <<'CONF';
restart_after_crash = on
autovacuum = off
max_worker_processes = 16
max_connections = 60
log_statement = none
CONF

	return $conf . ($preload ? preload_conf() : '');
}

# What makes a server preload the library and look at its tables every second.
sub preload_conf
{
	return <<'CONF';
shared_preload_libraries = 'acdat_bgw'
acdat_bgw.naptime = 1s
CONF
}

sub launcher_pid
{
	my ($node) = @_;

	return sql($node, 'postgres',
		"SELECT pid FROM acdat.worker WHERE kind = 'launcher'");
}

# Names of the tests that a report of pg_regress or pg_isolation_regress calls
# ok: "test NAME ... ok 5 ms", and since 16 "ok 1   - NAME 5 ms".
sub passed_tests
{
	my ($report) = @_;

	return grep { defined }
	  $report =~ m/^(?:test (\w+)\s+\.\.\. ok\b|ok \d+\s+[-+] (\w+))/mg;
}

# ---- Single statements ----

# The output of a statement that must succeed.
sub sql
{
	my ($node, $database, $query, %option) = @_;

	return $node->safe_psql($database, $query, connection_option($node, $database, %option));
}

# The error of a statement that must fail, with SQLSTATE, detail and hint;
# empty if it did not.
sub sql_error
{
	my ($node, $database, $query, %option) = @_;
	my ($stdout, $stderr) = ('', '');

	$node->psql(
		$database, $query,
		stdout => \$stdout,
		stderr => \$stderr,
		on_error_stop => 0,
		extra_params => [ '-v', 'VERBOSITY=verbose' ],
		connection_option($node, $database, %option));
	return $stderr;
}

# Another role than the one that runs the tests is asked for with user.
sub connection_option
{
	my ($node, $database, %option) = @_;

	return () unless defined $option{user};
	return (connstr => $node->connstr($database) . " user=$option{user}");
}

sub quote_text
{
	my ($text) = @_;

	$text =~ s/'/''/g;
	return "'$text'";
}

sub quote_array
{
	return 'ARRAY[' . join(', ', map { quote_text($_) } @_) . ']::text[]';
}

# Publish an array of patterns (a reference) or a query; returns the version.
# Options are those of acdat.publish(), as SQL expressions.
sub publish
{
	my ($node, $database, $name, $patterns, %option) = @_;
	my $source = ref $patterns ? quote_array(@$patterns) : quote_text($patterns);
	my $rest = join '', map { ", $_ => $option{$_}" } sort keys %option;

	return sql($node, $database,
		'SELECT acdat.publish(' . quote_text($name) . ", $source$rest)");
}

# Which of the words the dictionary finds, separated by blanks: what a
# version holds as far as a test cares.
sub answer
{
	my ($name, @words) = @_;

	return 'SELECT coalesce(string_agg(w, \' \' ORDER BY o), \'\') FROM unnest('
	  . quote_array(@words)
	  . ') WITH ORDINALITY AS u(w, o) WHERE acdat.contains(w, '
	  . quote_text($name) . ')';
}

# The statement made by answer() gives what is expected, in a session.
sub answer_is
{
	my ($session, $name, $words, $expected, $sentence) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;

	return is($session->query(answer($name, @$words)), $expected, $sentence);
}

# ---- Waiting ----

# Poll until the code returns true; false after the timeout of the tests.
sub poll_until
{
	my ($code) = @_;
	my $deadline = time + $PostgreSQL::Test::Utils::timeout_default;

	while (1)
	{
		return 1 if $code->();
		return 0 if time > $deadline;
		usleep(20_000);
	}
}

# Wait until a session is blocked by a lock of another transaction.
sub wait_for_lock
{
	my ($node, $session) = @_;
	my $pid = $session->pid;

	return $node->poll_query_until('postgres',
		"SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = $pid");
}

# ---- Shared memory, as the registry and the system see it ----

# The states of a dictionary in the registry, "version:state" separated by
# blanks, oldest first; all dictionaries, "name:version:state", without a name.
sub states_of
{
	my ($node, $name) = @_;

	return sql($node, 'postgres', defined $name
		? "SELECT coalesce(string_agg(version || ':' || state, ' ' ORDER BY revision), '')
		   FROM acdat.generations WHERE dictionary = " . quote_text($name)
		: "SELECT coalesce(string_agg(coalesce(dictionary, '') || ':' || version || ':' || state,
		   ' ' ORDER BY dictionary, revision), '') FROM acdat.generations");
}

# Wait until the registry shows these states; says what it shows if not.
sub wait_for_states
{
	my ($node, $name, $expected) = @_;
	my $states = '';

	return 1
	  if poll_until(sub { ($states = states_of($node, $name)) eq $expected });
	diag "states are \"$states\", not \"$expected\"";
	return 0;
}

# The segment that holds a version, while the registry knows it.
sub segment_of
{
	my ($node, $name, $version) = @_;

	return sql($node, 'postgres',
		'SELECT segment FROM acdat.generations WHERE dictionary = '
		  . quote_text($name)
		  . ($version ? " AND version = $version" : " AND state = 'live'"));
}

sub segment_file
{
	my ($segment) = @_;

	return "$SHM$segment";
}

# The handles of all dynamic segments of this very cluster, sorted, read from
# the server's own control segment, which the postmaster maps.  Its layout (a
# head of 16 bytes; items of 40 bytes that begin with handle and reference
# count, where 0 is a free item and 1 one that is going) is the same in all
# supported servers on 64-bit systems.
sub cluster_segments
{
	my ($node) = @_;
	my $pid = (split /\n/, slurp_file($node->data_dir . '/postmaster.pid'))[0];
	my ($control) = slurp_file("/proc/$pid/maps") =~ m/(\Q$SHM\E\d+)/;
	my $bytes = slurp_file($control);
	my ($magic, $items) = unpack('L L', $bytes);
	my @segments;

	die "$control is not a control segment" if $magic != 0x9a503d32;
	foreach my $i (0 .. $items - 1)
	{
		my ($handle, $count) = unpack('L L', substr($bytes, 16 + 40 * $i, 8));

		push @segments, $handle if $count > 1;
	}
	return join ' ', sort { $a <=> $b } @segments;
}

# Wait until the segments of the cluster are those listed, and no others.
sub wait_for_segments
{
	my ($node, $expected) = @_;
	my $segments = '';

	return 1
	  if poll_until(sub { ($segments = cluster_segments($node)) eq $expected });
	diag "segments are \"$segments\", not \"$expected\"";
	return 0;
}

# How a process maps a segment: permissions of each mapping, as in "r--s".
sub mapping_permissions
{
	my ($pid, $segment) = @_;
	my $file = segment_file($segment);

	return
	  join ' ', slurp_file("/proc/$pid/maps") =~ m/^\S+ (\S+) .* \Q$file\E\b/mg;
}

# Bytes of memory that belong to a process alone: what it wrote to in private
# mappings, and in the given segments what no other process maps as well.
# Shared buffers do not count: whether others have touched the same pages is
# chance.
sub private_dirty
{
	my ($pid, @segments) = @_;
	my %segment = map { segment_file($_) => 1 } @segments;
	my $counts = 0;
	my $kilobytes = 0;

	foreach my $line (split /\n/, slurp_file("/proc/$pid/smaps"))
	{
		if ($line =~ m/^[0-9a-f]+-[0-9a-f]+ (\S+) \S+ \S+ \S+\s*(\S*)/)
		{
			$counts = ($1 =~ m/p$/ || $segment{$2});
		}
		elsif ($counts && $line =~ m/^Private_Dirty:\s+(\d+) kB/)
		{
			$kilobytes += $1;
		}
	}
	return 1024 * $kilobytes;
}

sub session
{
	return AcdatTest::Session->new(@_);
}

# A session that has two workers take part in what it scans.
sub parallel_session
{
	my ($node, $database) = @_;
	my $session = session($node, $database);

	$session->query(q{
		SET max_parallel_workers_per_gather = 2;
		SET min_parallel_table_scan_size = 0;
		SET parallel_setup_cost = 0;
		SET parallel_tuple_cost = 0});
	return $session;
}

# How many workers a statement of a session is run with.
sub workers_launched
{
	my ($session, $statement) = @_;
	my ($launched) = $session->query("EXPLAIN (ANALYZE, COSTS off, TIMING off) $statement") =~
	  m/Workers Launched: (\d+)/;

	return $launched // 0;
}

# ---- Sessions ----
#
# A psql that stays connected.  Independent of BackgroundPsql, which not every
# minor release has and whose treatment of errors differs between releases.
package AcdatTest::Session;

use strict;
use warnings;

use Test::More;

# Options: user.
sub new
{
	my ($class, $node, $database, %option) = @_;
	my $connection = $node->connstr($database);
	my $self = bless {
		stdin => '',
		stdout => '',
		stderr => '',
		statements => 0,
		timer =>
		  IPC::Run::timer($PostgreSQL::Test::Utils::timeout_default)
	}, $class;

	$connection .= " user=$option{user}" if defined $option{user};
	$self->{run} = IPC::Run::start(
		[
			$node->installed_command('psql'), '-XAtq',
			'-v', 'VERBOSITY=verbose', '-d', $connection, '-f', '-'
		],
		'<', \$self->{stdin}, '>', \$self->{stdout},
		'2>', \$self->{stderr}, $self->{timer});
	$self->{pid} = $self->query('SELECT pg_backend_pid()');
	return $self;
}

# Process id of the backend.
sub pid
{
	my ($self) = @_;

	return $self->{pid};
}

# Hand a statement over without waiting for its end.
sub send_query
{
	my ($self, $query) = @_;
	my $banner = 'end of statement ' . ++$self->{statements};

	$self->{stdout} = $self->{stderr} = '';
	$self->{stdin} .= "$query\n;\n\\echo '$banner'\n\\warn '$banner'\n";
	$self->{run}->pump_nb;
	return;
}

# The end of the statement sent last: output and error.
sub result
{
	my ($self) = @_;
	my $end = qr/^end of statement $self->{statements}\n/m;

	$self->{timer}->start;
	while ($self->{stdout} !~ $end || $self->{stderr} !~ $end)
	{
		die "session timed out; output so far: $self->{stdout}$self->{stderr}"
		  if $self->{timer}->is_expired;
		if (!$self->{run}->pumpable)
		{
			last;
		}
		$self->{run}->pump;
	}
	$self->{stdout} =~ s/$end//;
	$self->{stderr} =~ s/$end//;
	chomp $self->{stdout};
	return ($self->{stdout}, $self->{stderr});
}

# Output and error of a statement.
sub try
{
	my ($self, $query) = @_;

	$self->send_query($query);
	return $self->result;
}

# Output of a statement that must succeed; notices do not count as failure.
sub query
{
	my ($self, $query) = @_;
	my ($output, $error) = $self->try($query);

	die "query failed: $query\n$error" if $error =~ m/^psql:.*(ERROR|FATAL)|^psql: error/m;
	return $output;
}

# Error of a statement that must fail.
sub error
{
	my ($self, $query) = @_;

	return ($self->try($query))[1];
}

sub quit
{
	my ($self) = @_;

	$self->{stdin} .= "\\q\n";
	eval { $self->{run}->finish };
	return;
}

1;
