# One statement uses one version in the leader and in every parallel worker,
# while a publisher alternates two dictionaries as fast as it can.

use strict;
use warnings;

use AcdatTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $COUNTS = 1000;
my $ROWS = 2000;
my $node = new_node('parallel');

# Of the rows 3/5 hold the first word and 2/5 the other: no mixture of the two
# versions can give either number by chance for long.
sql($node, 'postgres', qq{
	CREATE TABLE document (body text) WITH (parallel_workers = 2);
	INSERT INTO document
	SELECT repeat('nothing to see here ', 10) || CASE WHEN i % 5 < 3 THEN 'alpha' ELSE 'beta' END
	FROM generate_series(1, $ROWS) i;
	VACUUM ANALYZE document;
	CREATE TABLE running (b boolean);
	INSERT INTO running VALUES (true)});
my %possible = ($ROWS * 3 / 5 => 'alpha', $ROWS * 2 / 5 => 'beta');

publish($node, 'postgres', 'd', ['alpha']);

my $count = q{SELECT count(*) FROM document WHERE acdat.contains(body, 'd')};
my $reader = parallel_session($node, 'postgres');

is(workers_launched($reader, $count), 2, 'the count runs with two workers');
is($reader->query($count), $ROWS * 3 / 5, 'a parallel count gives the answer of the dictionary');

my $publisher = session($node, 'postgres');
$publisher->send_query(q{
	DO $$
	DECLARE
		word text;
	BEGIN
		WHILE EXISTS (SELECT FROM running) LOOP
			FOREACH word IN ARRAY ARRAY['beta', 'alpha'] LOOP
				PERFORM acdat.publish('d', ARRAY[word]);
				COMMIT;
			END LOOP;
		END LOOP;
	END $$});
ok($node->poll_query_until('postgres',
		q{SELECT version > 2 FROM acdat.dictionaries WHERE name = 'd'}),
	'the publisher has begun');

# Half of the counts with the leader scanning too, half by workers alone.  All
# statements of a half go to the server in one piece, to lose no time between.
my %seen;
my $wrong = 0;
my $turns = 0;
foreach my $leader (qw(on off))
{
	$reader->query("SET parallel_leader_participation = $leader");
	my $previous = '';
	foreach my $result (split /\n/, $reader->query("$count;\n" x ($COUNTS / 2)))
	{
		$seen{ $possible{$result} // 'mixed' }++;
		$wrong++ unless $possible{$result};
		$turns++ if $result ne $previous;
		$previous = $result;
	}
}
is(workers_launched($reader, $count), 2, 'the counts still run with two workers');
my $version = sql($node, 'postgres', q{SELECT version FROM acdat.dictionaries WHERE name = 'd'});
sql($node, 'postgres', 'DELETE FROM running');
is(($publisher->result)[1], '', 'the publisher went on without an error');

note "$version versions, answers changed $turns times";
is(($seen{alpha} // 0) + ($seen{beta} // 0) + $wrong, $COUNTS, "all $COUNTS counts gave an answer");
is($wrong, 0, 'every parallel count is all old or all new');
cmp_ok($seen{alpha} // 0, '>', $COUNTS / 20, 'the first version was seen many times');
cmp_ok($seen{beta} // 0, '>', $COUNTS / 20, 'the second version was seen many times');
cmp_ok($turns, '>', $COUNTS / 20, 'the answer changed all the time');

# A set-returning function and a cached call site in workers.
is($reader->query(q{SELECT count(*) FROM document, acdat.matches(body, 'd') m}),
	$ROWS * 3 / 5, 'matches() in a parallel plan gives the answer of the last version');
ok(wait_for_states($node, undef, "d:$_:live"), 'one state is left in the registry')
  foreach sql($node, 'postgres', q{SELECT version FROM acdat.dictionaries WHERE name = 'd'});

$_->quit foreach ($reader, $publisher);
$node->stop;
done_testing();
