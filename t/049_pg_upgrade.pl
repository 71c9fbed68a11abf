# pg_upgrade keeps dictionaries with ids, versions, options and readers, and
# the tables they are attached to.
#
# Environment: ACDAT_OLD_BINDIR is the folder of programs of the server to
# upgrade from, where the extension is installed; this server's own if not set.

use strict;
use warnings;

use AcdatTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $bindir = `$ENV{PG_CONFIG} --bindir`;
chomp $bindir;
my $old_bindir = $ENV{ACDAT_OLD_BINDIR} // $bindir;

my $old = PostgreSQL::Test::Cluster->new('old',
	$old_bindir eq $bindir ? () : (install_path => $old_bindir =~ s/\/bin$//r));
my @words = qw(alpha beta gamma delta);

# pg_upgrade wants the same in both; checksums are on by default since 18.
sub make_cluster
{
	my ($node, $preload) = @_;
	my @checksums = $node->pg_version >= 18 ? ('--no-data-checksums') : ();

	$node->init(extra => [ '--encoding=UTF8', '--locale=C', @checksums ]);
	$node->append_conf('postgresql.conf', preload_conf()) if $preload;
	return;
}

# What must be the same before and after.
sub durable_state
{
	my ($node, $database) = @_;

	return sql($node, $database, <<'SQL');
SELECT d::text FROM acdat.dictionary d ORDER BY id;
SELECT v::text FROM acdat.dictionary_version v ORDER BY dictionary, version;
SELECT name, source, debounce FROM acdat.attachments ORDER BY 1;
SELECT extversion FROM pg_extension WHERE extname = 'acdat_bgw';
SQL
}

make_cluster($old, 1);
$old->start;
sql($old, 'postgres', 'CREATE EXTENSION acdat_bgw; CREATE ROLE clerk LOGIN; CREATE DATABASE second');
sql($old, 'second', 'CREATE EXTENSION acdat_bgw');
publish($old, 'postgres', 'd', ['alpha']);
publish($old, 'postgres', 'd', ['Beta'],
	reader => "'clerk'", case_insensitive => "'unicode'", boundary => "'word'", keep_versions => '7');
publish($old, 'second', 'rule', ['gamma'], cluster => 'true', reader => "'public'");
sql($old, 'postgres', <<'SQL');
CREATE TABLE terms (pattern text);
INSERT INTO terms VALUES ('alpha');
SELECT acdat.publish('followed', 'SELECT pattern FROM terms');
SELECT acdat.attach('followed', 'terms', '50 ms');
CREATE TABLE machine AS SELECT acdat.compile('delta'::text) AS machine;
SQL
my %before = map { $_ => durable_state($old, $_) } qw(postgres second);
like($before{postgres}, qr/followed\|terms\|00:00:00.05/, 'there is something to keep');
isnt(launcher_pid($old), '', 'a launcher runs');
$old->stop;

# ---- Binary upgrade mode ----

# As pg_upgrade starts servers.  Workers that start with a server do so before
# it lets anybody in.
sub workers_with
{
	my ($option) = @_;
	my $log = $old->data_dir . '/../mode.log';

	PostgreSQL::Test::Utils::system_or_bail("$old_bindir/pg_ctl", '-w', '-D', $old->data_dir,
		'-l', $log, '-o', $option, 'start');
	my $workers = $old->safe_psql('postgres',
		q{SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'acdat%'});

	PostgreSQL::Test::Utils::system_or_bail("$old_bindir/pg_ctl", '-w', '-D', $old->data_dir, 'stop');
	return $workers;
}

is(workers_with('-b'), 0, 'no worker runs in binary upgrade mode');

# ---- pg_upgrade ----

# The library has to be installed; whether it is preloaded is all the same.
foreach my $preload (1, 0)
{
	my $new = PostgreSQL::Test::Cluster->new("new$preload");
	my $how = $preload ? 'preloaded' : 'not preloaded';

	make_cluster($new, $preload);
	# it writes into the current folder
	my $folder = PostgreSQL::Test::Utils::tempdir;
	my ($output, $code) = ('', 0);

	$code = IPC::Run::run(
		[
			'pg_upgrade', '--no-sync', '-d', $old->data_dir, '-D', $new->data_dir,
			'-b', $old_bindir, '-B', $bindir, '-s', $new->host,
			'-p', $old->port, '-P', $new->port
		],
		'>&', \$output, init => sub { chdir $folder or die "$folder: $!" });
	ok($code, "pg_upgrade runs with the library $how in the new cluster") or diag $output;

	if (!$preload)
	{
		$new->start;
		is(sql($new, 'postgres', q{SELECT acdat.contains('a delta', machine) FROM machine}), 't',
			'machine values work at once');
		$new->stop;
		$new->append_conf('postgresql.conf', preload_conf());
	}
	$new->start;
	is(durable_state($new, $_), $before{$_}, "everything is kept in $_, $how") foreach qw(postgres second);
	is(sql($new, 'postgres', answer('d', 'BETA', 'alpha', 'betas')), 'BETA',
		'the dictionary answers with its options');
	is(sql($new, 'postgres', answer('rule', @words)), 'gamma', 'one of another database, too');
	is(sql($new, 'postgres', q{SELECT acdat.contains('beta', 'd')}, user => 'clerk'), 't',
		'its reader may scan');
	is(sql($new, 'postgres', q{SELECT acdat.contains('a delta', machine) FROM machine}), 't',
		'stored machines work');
	sql($new, 'postgres', q{INSERT INTO terms VALUES ('delta')});
	ok($new->poll_query_until('postgres', answer('followed', @words), 'alpha delta'),
		'a change of an attached table is followed');
	is(publish($new, 'postgres', 'd', ['gamma']), 3, 'versions go on');
	is(sql($new, 'postgres', q{SELECT acdat.rollback('d', 1)}), 4, 'and back');
	is(sql($new, 'postgres', answer('d', @words)), 'alpha', 'to what came along');
	$new->stop;
}

done_testing();
