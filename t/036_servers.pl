# A hub with two subscribers, and shards, as doc/servers.md describes them.
#
# The subscribers look at their tables once a day, so what they answer with
# was brought to them.

use strict;
use warnings;

use AcdatTest;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $hub = new_node('hub', extension => 0, init => { allows_streaming => 'logical' });
my @subscribers = map {
	new_node($_, extension => 0, conf => "acdat_bgw.naptime = 1d\n") } 'subscriber1', 'subscriber2';
my @shards = map { new_node($_) } 'shard1', 'shard2';
my %address = (
	'host=hub dbname=app' => $hub->connstr('postgres'),
	'host=shard1 dbname=app' => $shards[0]->connstr('postgres'),
	'host=shard2 dbname=app' => $shards[1]->connstr('postgres'));

sub run_block
{
	my ($node, $block) = @_;
	my $sql = $block->{sql};

	$sql =~ s/'\Q$_\E'/quote_text($address{$_})/e foreach keys %address;
	$sql =~ s/(SUBSCRIPTION dictionaries)(.*);/"$1$2 WITH (slot_name = " . $node->name . ');'/e;
	return run_documented($node, 'postgres', $sql);
}

# ---- The page ----

foreach my $block (documented_statements('doc/servers.md'))
{
	my @nodes = $block->{server} =~ m/^hub/ ? ($hub) : @subscribers;
	my $where = "line $block->{line}";

	foreach my $node (@nodes)
	{
		if ($block->{server} =~ m/check/)
		{
			ok(poll_until(sub { (run_block($node, $block))[0] eq $block->{output} }),
				"$where: " . $node->name . ' answers what is printed');
			next;
		}
		my ($output, $error) = run_block($node, $block);

		is($error, '', "$where: the statements run on " . $node->name);
		is($output, $block->{output}, 'and return what is printed') if defined $block->{output};
	}
}
is(sql($_, 'postgres', answer('words', 'alpha', 'beta')), 'alpha', $_->name . ' has its own dictionary')
  foreach @shards;

# ---- One statement on the hub ----

sub all_answer
{
	my ($expected, @words) = @_;

	return poll_until(sub {
			!grep { sql($_, 'postgres', answer('pii', @words)) ne $expected } $hub, @subscribers });
}

my $begin = time;

publish($hub, 'postgres', 'pii', [ 'Bob Stone', 'Carol' ]);
ok(all_answer('Bob Stone Carol', 'Alice Miller', 'Bob Stone', 'Carol'),
	'after one publish on the hub three servers answer with it');
note(sprintf('it took %.2f s', time - $begin));
sql($hub, 'postgres', q{SELECT acdat.rollback('pii', 1)});
ok(all_answer('Alice Miller', 'Alice Miller', 'Bob Stone'), 'and with the former version after a rollback');
sql($hub, 'postgres', q{BEGIN; SELECT acdat.publish('pii', ARRAY['x']); ROLLBACK});
publish($hub, 'postgres', 'other', ['x']);
ok(poll_until(sub { sql_error($subscribers[1], 'postgres', answer('other', 'x')) eq '' }),
	'another dictionary arrives');
is(sql($subscribers[1], 'postgres', answer('pii', 'Alice Miller', 'x')), 'Alice Miller',
	'what was rolled back on the hub never does');

# A subscriber that was away catches up; one that restarts answers by itself.
$subscribers[0]->stop;
publish($hub, 'postgres', 'pii', ['Dora']);
$subscribers[0]->start;
$subscribers[1]->stop('immediate');
$subscribers[1]->start;
ok(all_answer('Dora', 'Alice Miller', 'Dora'), 'a subscriber that was away catches up');
sql($hub, 'postgres', q{SELECT acdat.drop_dictionary('pii')});
ok(poll_until(sub {
			!grep { sql_error($_, 'postgres', answer('pii', 'x')) !~ m/42704/ } $hub, @subscribers }),
	'a dictionary dropped on the hub is gone everywhere');

sql($_, 'postgres', 'DROP SUBSCRIPTION dictionaries') foreach @subscribers;
$_->stop foreach @subscribers, @shards, $hub;
done_testing();
