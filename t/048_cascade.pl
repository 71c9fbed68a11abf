# Standbys in a chain, and one whose replay is paused: what they answer is what
# their rows say, whatever the primary has.

use strict;
use warnings;

use AcdatTest;
use PostgreSQL::Test::Cluster;
use Test::More;

my $primary = new_node('primary', init => { allows_streaming => 1 });
my @words = qw(alpha beta gamma delta);

publish($primary, 'postgres', 'd', ['alpha']);
$primary->backup('base');

my $first = PostgreSQL::Test::Cluster->new('first');
$first->init_from_backup($primary, 'base', has_streaming => 1);
$first->start;
$first->backup('next');

my $second = PostgreSQL::Test::Cluster->new('second');
$second->init_from_backup($first, 'next', has_streaming => 1);
$second->start;

is(sql($_, 'postgres', answer('d', @words)), 'alpha', $_->name . ' answers') foreach $first, $second;

# ---- Down the chain ----

publish($primary, 'postgres', 'd', ['beta']);
$primary->wait_for_catchup($first, 'replay');
$first->wait_for_catchup($second, 'replay', $primary->lsn('flush'));
ok($_->poll_query_until('postgres', answer('d', @words), 'beta'), $_->name . ' follows')
  foreach $first, $second;

# ---- Paused ----

sql($second, 'postgres', 'SELECT pg_wal_replay_pause()');
ok($second->poll_query_until('postgres', 'SELECT pg_get_wal_replay_pause_state()', 'paused'), 'replay is paused');
publish($primary, 'postgres', 'd', ['gamma']);
$primary->wait_for_catchup($first, 'replay');
ok($first->poll_query_until('postgres', answer('d', @words), 'gamma'), 'the first standby follows');
is(sql($second, 'postgres', answer('d', @words)), 'beta', 'the paused one stays with what it has');
sql($second, 'postgres', 'SELECT pg_wal_replay_resume()');
ok($second->poll_query_until('postgres', answer('d', @words), 'gamma'), 'and follows when it goes on');

# ---- Promotion while sessions scan and the primary publishes ----

my @sessions = map { session($first, 'postgres') } 1 .. 4;
my $publisher = session($primary, 'postgres');
my @seen;

$publisher->query("SELECT acdat.publish('d', ARRAY['gamma', 'v$_'])") foreach 1 .. 5;
$_->send_query(q{SELECT count(*) FROM generate_series(1, 200000) i WHERE acdat.contains('gamma ' || i, 'd')}) foreach @sessions;
$first->promote;
push @seen, ($_->result)[0] foreach @sessions;
is(join(' ', @seen), '200000 200000 200000 200000', 'sessions scan on through a promotion');
is(publish($first, 'postgres', 'd', ['delta']) > 3 ? 'yes' : 'no', 'yes', 'the promoted server publishes');
answer_is($_, 'd', \@words, 'delta', 'and its sessions follow') foreach @sessions;
ok($second->poll_query_until('postgres', answer('d', @words), 'delta'),
	'so does the standby behind it, on the new timeline');
$publisher->query(q{SELECT acdat.publish('d', ARRAY['alpha'])});
is(sql($primary, 'postgres', answer('d', @words)), 'alpha', 'the former primary goes its own way');
$_->quit foreach @sessions, $publisher;
$_->stop foreach $second, $first, $primary;
done_testing();
