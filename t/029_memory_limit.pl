# acdat_bgw.max_memory: machines that were not used for the longest time make
# room, come back when wanted, and what cannot fit is refused.

use strict;
use warnings;

use AcdatTest;
use Test::More;

my $node = new_node('memory_limit', conf => "acdat_bgw.max_memory = 30MB\n");

sql($node, 'postgres', q(
	CREATE TABLE words AS
		SELECT md5(g::text) AS word FROM generate_series(1, 30000) g));

# About 12 MB each; settled, so that it may be evicted.
sub publish_words
{
	my ($name) = @_;

	publish($node, 'postgres', $name,
		"SELECT word || '$name' AS pattern FROM words");
	$node->poll_query_until('postgres', qq(
		SELECT count(*) = 1 FROM acdat.generations
		WHERE dictionary = '$name' AND xid IS NULL))
	  or die "the publish of $name was not settled";
	return;
}

sub state_of
{
	my ($name) = @_;

	return sql($node, 'postgres',
		"SELECT state FROM acdat.generations WHERE dictionary = '$name'");
}

sub finds
{
	my ($name) = @_;

	return sql($node, 'postgres',
		"SELECT acdat.contains('a word: ' || md5('7') || '$name', '$name')");
}

publish_words('a');
publish_words('b');
is(state_of('a'), 'live', 'two machines fit into the limit');
publish_words('c');
is(state_of('a'), 'evicted', 'the machine not used for the longest time makes room');
is(state_of('c'), 'live', 'for the one that was published');
is(finds('a'), 't', 'an evicted dictionary answers again when it is used');
is(state_of('a'), 'live', 'its machine is loaded again');
is( sql($node, 'postgres', q(
		SELECT pg_size_bytes('30MB') >= sum(bytes) FROM acdat.generations)),
	't', 'the machines stay within the limit');

is( sql($node, 'postgres', q(
		SELECT acdat.contains(md5('7') || 'a', 'a'),
			acdat.contains(md5('8') || 'b', 'b'),
			acdat.contains(md5('9') || 'c', 'c'))),
	't|t|t', 'a statement can use more dictionaries than fit at a time');

is( sql($node, 'postgres', q(
		SELECT count(*), count(*) FILTER (WHERE b AND c)
		FROM (SELECT acdat.contains(md5(i::text) || 'b', 'b') AS b,
				acdat.contains(md5(i::text) || 'c', 'c') AS c
			FROM generate_series(1, 3) i,
				acdat.matches(md5('1') || 'a ' || md5('2') || 'a', 'a') m) s)),
	'6|6', 'a set that is being returned keeps its machine while others are evicted');

my $error = sql_error($node, 'postgres', q(
	SELECT acdat.publish('big',
		'SELECT word || q || word AS pattern FROM words, generate_series(1, 30) q')));
like($error, qr/53400: dictionary does not fit into the memory limit/,
	'a machine beyond the limit is refused with its own SQLSTATE and message');
like($error, qr/HINT: .*acdat_bgw\.max_memory/, 'and a hint that names the setting');
is(sql($node, 'postgres', q(SELECT count(*) FROM acdat.dictionaries WHERE name = 'big')),
	'0', 'and it leaves no row');
is(finds('b'), 't', 'the others still answer');

$node->append_conf('postgresql.conf', "acdat_bgw.max_memory = 1GB\n");
$node->restart;
is(join('', map { finds($_) } qw(a b c)), 'ttt',
	'all answer after a restart with more memory');
$node->stop;

done_testing();
