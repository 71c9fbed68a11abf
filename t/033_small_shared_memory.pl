# A /dev/shm that is too small, as in containers: a dictionary that does not
# fit is an error at publish, and nothing else comes of it.

use strict;
use warnings;

# With a /dev/shm of its own, in a name space where mounting is allowed.
BEGIN
{
	if (!$ENV{ACDAT_SMALL_SHM})
	{
		my @unshare = qw(unshare --user --map-current-user --keep-caps --mount sh -c);
		my $mount = 'mount -t tmpfs -o size=16m,mode=1777 tmpfs /dev/shm';

		if (system(@unshare, "$mount 2>/dev/null") != 0)
		{
			print "1..0 # SKIP no name space with a /dev/shm of its own\n";
			exit 0;
		}
		$ENV{ACDAT_SMALL_SHM} = 1;
		exec @unshare, "$mount && exec \"\$@\"", 'sh', $^X, (map { "-I$_" } @INC), $0;
	}
}

use AcdatTest;
use Test::More;

my $node = new_node('small');
my $large = q(SELECT md5(i::text) AS pattern FROM generate_series(1, %d) i);
my $answer = answer('terms', 'alpha', 'beta');

is(publish($node, 'postgres', 'terms', ['alpha']), 1, 'a small dictionary fits');

my $reader = session($node, 'postgres');
my $segments = cluster_segments($node);

is($reader->query($answer), 'alpha', 'and answers');
# More than there is room for, for the machine and for the patterns.
foreach my $patterns (100_000, 800_000)
{
	like(sql_error($node, 'postgres', sprintf "SELECT acdat.publish('terms', '$large')", $patterns),
		qr/ERROR:  53[12]00: .*shared memory/, "$patterns patterns are refused");
	is(sql($node, 'postgres', q(SELECT name, version, patterns FROM acdat.dictionaries)), 'terms|1|1',
		'the version is the old one');
	ok(wait_for_segments($node, $segments), 'no segment stays');
	is($reader->query($answer), 'alpha', 'the session from before goes on');
}
is(publish($node, 'postgres', 'terms', ['beta']), 2, 'what fits can still be published');
is($reader->query($answer), 'beta', 'and is used');

$reader->quit;
$node->stop;
done_testing();
