# Idle sessions that scanned once do not keep old machines in memory: they are
# woken to let go.

use strict;
use warnings;

use AcdatTest;
use Test::More;
use Time::HiRes qw(time);

my $sessions = $ENV{ACDAT_IDLE_SESSIONS} || 100;
my $publishes = 50;

my $node = new_node('main', conf => 'max_connections = ' . ($sessions + 20) . "\n");

publish($node, 'postgres', 'd', ['v0']);
my @sessions = map { session($node, 'postgres') } 1 .. $sessions;

$_->send_query(answer('d', 'v0', 'v1')) foreach @sessions;
is(scalar(grep { ($_->result)[0] eq 'v0' } @sessions), $sessions, "$sessions sessions scan once");
is(sql($node, 'postgres', 'SELECT mapped_by FROM acdat.generations'), $sessions, 'and map the machine');

publish($node, 'postgres', 'd', ["v$_"]) foreach 1 .. $publishes;

my $begin = time;

ok($node->poll_query_until('postgres', 'SELECT count(*) <= 2 FROM acdat.generations WHERE bytes IS NOT NULL'),
	"after $publishes publishes there are at most two machines");
note(sprintf 'the others were gone after %.2f s', time - $begin);
ok(wait_for_states($node, 'd', ($publishes + 1) . ':live'), 'and soon one');
note(sprintf 'the last other one was gone after %.2f s', time - $begin);

$_->send_query(answer('d', 'v0', "v$publishes")) foreach @sessions;
is(scalar(grep { ($_->result)[0] eq "v$publishes" } @sessions), $sessions,
	'all sessions go on, with the current version');
$_->quit foreach @sessions;
ok($node->poll_query_until('postgres', q{SELECT bool_and(mapped_by = 0) FROM acdat.generations}),
	'sessions that ended map nothing');
$node->stop;
done_testing();
