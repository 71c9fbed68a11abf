# One read-only copy: every process maps the same segment r--s, adds next to
# nothing of its own, and lets go of what nobody needs any more.

use strict;
use warnings;

use AcdatTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $BACKENDS = 20;
my $MACHINE_BYTES = 20 * 1000 * 1000;
my $PRIVATE_LIMIT = 64 * 1024;
my $PATTERNS = q{SELECT substr(md5(i::text), 1, 24) AS pattern, i AS id
	FROM generate_series(1, 80000) i};
my $SCAN = q{SELECT count(*) FILTER (WHERE acdat.contains(body, 'big')) FROM document};

# As SCAN, without any function of the extension: it warms what a first
# statement of any kind brings into a process.
my $WARM_UP = q{SELECT count(*) FILTER (WHERE starts_with(body, 'big')) FROM document};

# Nine rows of ten hold no pattern, so that a scan walks through all of them;
# the tenth ends with one.
sub create_tables
{
	my ($node) = @_;

	sql($node, 'postgres', qq{
		CREATE TABLE document AS
		SELECT repeat(md5((-i)::text) || ' ', 20)
			|| CASE WHEN i % 10 = 0 THEN substr(md5(i::text), 1, 24) ELSE '' END AS body
		FROM generate_series(1, 1000) i;
		VACUUM document});
	return;
}

sub bytes_of
{
	my ($node, $name) = @_;

	return sql($node, 'postgres',
		"SELECT bytes FROM acdat.generations WHERE state = 'live' AND dictionary = '$name'");
}

# What each session adds to its private memory by its first scan,
# largest first.  Measured when all of them map the machine.
sub added_by_scan
{
	my ($node, @sessions) = @_;
	my $segment = segment_of($node, 'big');
	my %before;

	foreach my $session (@sessions)
	{
		$session->query($WARM_UP);
		$before{$session} = private_dirty($session->pid, $segment);
	}
	foreach my $session (@sessions)
	{
		is($session->query($SCAN), 100, 'a scan finds what is there')
		  if $session == $sessions[0];
		$session->query($SCAN) if $session != $sessions[0];
	}
	return
	  sort { $b <=> $a }
	  map { private_dirty($_->pid, $segment) - $before{$_} } @sessions;
}

my $node = new_node('memory');
create_tables($node);
publish($node, 'postgres', 'big', $PATTERNS);
cmp_ok(bytes_of($node, 'big'), '>', $MACHINE_BYTES, 'the machine is larger than 20 MB');

# ---- Read-only, and one copy ----

my $segment = segment_of($node, 'big');
my @sessions = map { session($node, 'postgres') } 1 .. $BACKENDS;

is(mapping_permissions($sessions[0]->pid, $segment), '',
	'a backend that has not scanned does not map the segment');
my @added = added_by_scan($node, @sessions);
is(join(' ', map { mapping_permissions($_->pid, $segment) } @sessions),
	join(' ', ('r--s') x $BACKENDS),
	'each backend that has scanned maps the segment once, read-only and shared');
note "private bytes added, largest first: @added";
cmp_ok($added[0], '<', $PRIVATE_LIMIT,
	"the scan of a 20 MB machine adds less than 64 KiB of private memory to each of $BACKENDS backends");
is(-s segment_file($segment) >= $MACHINE_BYTES, 1, 'the segment is the whole machine');
is(sql($node, 'postgres',
		"SELECT mapped_by FROM acdat.generations WHERE segment = '$segment'"),
	$BACKENDS, 'the registry counts the processes that map it');
is(mapping_permissions(launcher_pid($node), $segment), '',
	'the process that compiled it does not map it any more');

# Without the extension's dictionaries the same pages would be private.
$sessions[0]->query(qq{CREATE TABLE private AS
	SELECT acdat.compile(pattern, id) AS machine FROM ($PATTERNS) p});
# in another session: memory that compiling left behind would be used again
my $before = private_dirty($sessions[1]->pid);
$sessions[1]->query(q{SELECT count(*) FILTER (WHERE acdat.contains(body, machine))
	FROM document, private});
cmp_ok(private_dirty($sessions[1]->pid) - $before, '>', $MACHINE_BYTES / 2,
	'the measure would show a private copy of the machine');

# ---- Letting go ----

# All sessions are idle now, and each maps the version that is superseded.
publish($node, 'postgres', 'big', ['small']);
ok(wait_for_states($node, 'big', '2:live'), 'the superseded version leaves the registry');
ok($node->poll_query_until('postgres',
		q{SELECT count(*) = 0 FROM acdat.generations WHERE state = 'retired'}),
	'idle sessions let go of a superseded machine without doing anything');
is(join('', map { mapping_permissions($_->pid, $segment) } @sessions),
	'', 'none of them maps it any more');
ok(poll_until(sub { !-e segment_file($segment) }), 'and its segment is gone');

# A session that is idle in a transaction holds no snapshot: it lets go at
# its next statement.
$sessions[0]->query('BEGIN');
$sessions[0]->query($SCAN);
$segment = segment_of($node, 'big');
publish($node, 'postgres', 'big', ['other']);
ok(wait_for_states($node, 'big', '3:live'),
	'a session that is idle in a transaction does not keep a version in the registry');
is(mapping_permissions($sessions[0]->pid, $segment), 'r--s',
	'though it still maps it');
$sessions[0]->query($SCAN);
ok(poll_until(sub { !-e segment_file($segment) }),
	'at its next statement it lets go and the segment is removed');
$sessions[0]->query('COMMIT');

# What is mapped stays mapped for as long as a snapshot needs it.
$sessions[1]->query('BEGIN ISOLATION LEVEL REPEATABLE READ');
$sessions[1]->query($SCAN);
$segment = segment_of($node, 'big');
publish($node, 'postgres', 'big', ['last']);
is($sessions[1]->query($SCAN), 0, 'an old snapshot scans with the superseded version');
is(mapping_permissions($sessions[1]->pid, $segment), 'r--s', 'which it still maps read-only');
$sessions[1]->query('COMMIT');
ok(poll_until(sub { !-e segment_file($segment) }), 'and lets go of at its end');

# The end of a session is enough.
$segment = segment_of($node, 'big');
$_->query($SCAN) foreach @sessions;
$_->quit foreach @sessions;
ok($node->poll_query_until('postgres',
		"SELECT mapped_by = 0 FROM acdat.generations WHERE segment = '$segment'"),
	'sessions that end give their mappings back');

# Many publishes leave nothing behind.
my $segments = cluster_segments($node);
my $watcher = session($node, 'postgres');
foreach my $i (1 .. 100)
{
	publish_and_scan($watcher, $i);
}
$watcher->quit;
ok(poll_until(sub { split(/ /, cluster_segments($node)) == split(/ /, $segments) }),
	'100 publishes leave as many segments as there were');

sub publish_and_scan
{
	my ($session, $i) = @_;

	$session->query("SELECT acdat.publish('big', ARRAY['word$i'])");
	$session->query("SELECT acdat.contains('word$i', 'big')") eq 't'
	  or die 'a published word is not found';
	return;
}
$node->stop;

# ---- min_dynamic_shared_memory ----

# The segment is then part of main shared memory, which is mapped anyway.
$node = new_node('main_region', conf => "min_dynamic_shared_memory = 64MB\n");
create_tables($node);
publish($node, 'postgres', 'big', $PATTERNS);
$segment = segment_of($node, 'big');
is($segment % 2, 1, 'with min_dynamic_shared_memory the machine is in main shared memory');
ok(!-e segment_file($segment), 'and has no file of its own');
@sessions = map { session($node, 'postgres') } 1 .. $BACKENDS;
@added = added_by_scan($node, @sessions);
note "private bytes added, largest first: @added";
cmp_ok($added[0], '<', $PRIVATE_LIMIT,
	'a scan then adds less than 64 KiB of private memory to each backend, too');
publish($node, 'postgres', 'big', ['small']);
publish($node, 'postgres', 'big', $PATTERNS);
is($sessions[0]->query($SCAN), 100, 'memory that is used again holds the right machine');
ok(wait_for_states($node, undef, 'big:3:live'), 'the versions before it are gone');
ok($node->poll_query_until('postgres',
		q{SELECT count(*) = 1 FROM acdat.generations}),
	'and so are their machines');

# Machines that do not fit there get segments of their own.
publish($node, 'postgres', $_, $PATTERNS) foreach qw(second third fourth);
is(sql($node, 'postgres', q{SELECT count(DISTINCT segment::bigint % 2) FROM acdat.generations}),
	2, 'what does not fit there has segments of its own');
is($sessions[0]->query(q{SELECT count(*) FILTER (WHERE acdat.contains(body, 'fourth')) FROM document}),
	100, 'with which a scan works as well');
$_->quit foreach @sessions;
$node->stop;

done_testing();
