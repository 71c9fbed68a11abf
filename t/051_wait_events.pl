# What processes wait for has a name in pg_stat_activity; servers before 17
# have one name for all extensions.

use strict;
use warnings;

use AcdatTest;
use Test::More;

my $node = new_node('wait_events');
my $named = sql($node, 'postgres', q{SELECT current_setting('server_version_num')::int >= 170000}) eq 't';

sub waits
{
	my ($pid, $name, $what) = @_;
	my $event = $named ? $name : 'Extension';

	ok(poll_until(sub {
		sql($node, 'postgres',
			"SELECT wait_event_type || ' ' || wait_event FROM pg_stat_activity WHERE pid = $pid") eq
		  "Extension $event";
	}), "$what: $event");
	return;
}

my $launcher = launcher_pid($node);
my $session = session($node, 'postgres');

waits($launcher, 'AcdatLauncherMain', 'the launcher waits for something to do');

# Small dictionaries are compiled by the launcher, which cannot now.
kill 'STOP', $launcher;
$session->send_query(q{SELECT acdat.publish('d', ARRAY['x'])});
waits($session->pid, 'AcdatCompile', 'a publish waits for its compile');
kill 'CONT', $launcher;
is(($session->result)[0], 1, 'which ends');

if ($named)
{
	is(sql($node, 'postgres', q{
			SELECT string_agg(name, ' ' ORDER BY name COLLATE "C") FROM pg_wait_events
			WHERE type = 'Extension' AND name IN ('AcdatCompile', 'AcdatLauncherMain')}),
		'AcdatCompile AcdatLauncherMain', 'the server lists them');
}
$session->quit;
$node->stop;
done_testing();
