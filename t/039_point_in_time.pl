# A cluster restored to a point in time has the dictionaries of that moment,
# and a history of its own from there on.

use strict;
use warnings;

use AcdatTest;
use PostgreSQL::Test::Cluster;
use Test::More;

my $origin = new_node('origin', init => { allows_streaming => 1, has_archiving => 1 });
my @words = qw(alpha beta gamma delta);

publish($origin, 'postgres', 'd', ['alpha']);
publish($origin, 'postgres', 'going', ['alpha']);
$origin->backup('base');

# After the backup and before the point; one publish is under way at it.
publish($origin, 'postgres', 'd', ['beta'], reader => "'public'");
my $publisher = session($origin, 'postgres');
$publisher->query(q{BEGIN});
$publisher->query(q{SELECT acdat.publish('under_way', ARRAY['alpha'])});
sql($origin, 'postgres', q{SELECT pg_create_restore_point('between')});

# After the point.
$publisher->query('COMMIT');
publish($origin, 'postgres', 'd', ['gamma']);
sql($origin, 'postgres', q{SELECT acdat.drop_dictionary('going')});
publish($origin, 'postgres', 'later', ['alpha']);
$publisher->quit;
is(sql($origin, 'postgres', answer('d', @words)), 'gamma', 'the origin has gone on');

my $last = sql($origin, 'postgres', 'SELECT pg_walfile_name(pg_switch_wal())');
ok($origin->poll_query_until('postgres',
		"SELECT last_archived_wal >= '$last' FROM pg_stat_archiver"),
	'what happened is in the archive');

# ---- At the point ----

my $restored = PostgreSQL::Test::Cluster->new('restored');

$restored->init_from_backup($origin, 'base', has_restoring => 1, standby => 0);
$restored->append_conf('postgresql.conf', <<'CONF');
recovery_target_name = 'between'
recovery_target_action = 'pause'
archive_mode = off
CONF
$restored->start;
ok($restored->poll_query_until('postgres', q{SELECT pg_get_wal_replay_pause_state() = 'paused'}),
	'the point is reached');
is(sql($restored, 'postgres', answer('d', @words)), 'beta', 'the dictionary is that of the point');
is(sql($restored, 'postgres', q{SELECT version, reader FROM acdat.dictionaries WHERE name = 'd'}),
	'2|public', 'with its version and its reader');
is(sql($restored, 'postgres', answer('going', @words)), 'alpha', 'one that was dropped later is there');
like(sql_error($restored, 'postgres', "SELECT acdat.contains('x', '$_')"), qr/ERROR:  42704:/,
	"one that was $_ is not")
  foreach qw(under_way later);

# ---- From there on ----

sql($restored, 'postgres', 'SELECT pg_wal_replay_resume()');
ok($restored->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()'), 'it is opened');
is(sql($restored, 'postgres', answer('d', @words)), 'beta', 'and still answers so');
is(publish($restored, 'postgres', 'd', ['delta']), 3, 'the number that was lost is used again');
is(sql($restored, 'postgres', answer('d', @words)), 'delta', 'for what is published here');
is(publish($restored, 'postgres', 'under_way', ['beta']), 1,
	'what was under way is in nobody\'s way');
is(sql($restored, 'postgres', answer('under_way', @words)), 'beta', 'nor does it answer');
is(sql($restored, 'postgres', q{SELECT acdat.rollback('d', 1)}), 4, 'versions of before are kept');
is(sql($restored, 'postgres', answer('d', @words)), 'alpha', 'and can be used');
is(sql($origin, 'postgres', answer('d', @words)), 'gamma', 'the origin has no part in it');

$restored->stop;
$origin->stop;
done_testing();
