# Which version a snapshot sees, in every isolation level, for statements,
# cursors and call sites that outlive a snapshot.

use strict;
use warnings;

use AcdatTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('isolation');
my @words = qw(alpha beta gamma delta);
my $probe = answer('d', @words);

publish($node, 'postgres', 'd', ['alpha']);

my $writer = session($node, 'postgres');
my $reader = session($node, 'postgres');

sub publish_word
{
	my ($word) = @_;

	return $writer->query("SELECT acdat.publish('d', ARRAY['$word'])");
}

# ---- REPEATABLE READ ----

foreach my $level ('REPEATABLE READ', 'SERIALIZABLE')
{
	publish_word('alpha');
	$reader->query("BEGIN ISOLATION LEVEL $level");
	answer_is($reader, 'd', \@words, 'alpha', "$level sees the version of its snapshot");
	publish_word('beta');
	answer_is($writer, 'd', \@words, 'beta', 'the publisher has moved on');
	answer_is($reader, 'd', \@words, 'alpha', "$level keeps its version over a publish");
	my $version = $writer->query(q{SELECT version FROM acdat.dictionaries WHERE name = 'd'});
	is(states_of($node, 'd'), ($version - 1) . ":superseded $version:live",
		"the registry keeps the superseded version for the $level snapshot");
	$writer->query(q{SELECT acdat.rename_dictionary('d', 'e')});
	answer_is($reader, 'd', \@words, 'alpha', "$level keeps the name over a rename");
	like($reader->error(q{SAVEPOINT s; SELECT acdat.contains('x', 'e')}),
		qr/ERROR:  42704:/, "the new name does not exist for the $level snapshot");
	$reader->query('ROLLBACK TO s');
	$writer->query(q{SELECT acdat.drop_dictionary('e')});
	answer_is($reader, 'd', \@words, 'alpha', "$level keeps its version over a drop");
	publish_word('gamma');
	answer_is($reader, 'd', \@words, 'alpha',
		"$level keeps its version over a new dictionary of the same name");
	$reader->query('COMMIT');
	answer_is($reader, 'd', \@words, 'gamma', "after $level the next statement moves on");
	ok(wait_for_states($node, undef, 'd:1:live'),
		"with the $level snapshot the superseded versions go");
}

# A snapshot taken before a dictionary existed does not see it.
$reader->query('BEGIN ISOLATION LEVEL REPEATABLE READ');
$reader->query('SELECT 1');
publish($node, 'postgres', 'later', ['alpha']);
like($reader->error(q{SELECT acdat.contains('alpha', 'later')}),
	qr/ERROR:  42704: dictionary "later" does not exist/,
	'a dictionary published after the snapshot does not exist for it');
$reader->query('ROLLBACK');
is($reader->query(q{SELECT acdat.contains('alpha', 'later')}),
	't', 'it exists for the next snapshot');

# ---- READ COMMITTED ----

$reader->query('BEGIN ISOLATION LEVEL READ COMMITTED');
answer_is($reader, 'd', \@words, 'gamma', 'READ COMMITTED sees what is committed');
publish_word('alpha');
answer_is($reader, 'd', \@words, 'alpha', 'READ COMMITTED moves on at the next statement');
$writer->query(q{SELECT acdat.drop_dictionary('d')});
like($reader->error(qq{SAVEPOINT s; $probe}), qr/ERROR:  42704:/,
	'READ COMMITTED sees a drop at the next statement');
$reader->query('ROLLBACK');

# ---- Writers with an old snapshot ----

publish_word('alpha');
$reader->query('BEGIN ISOLATION LEVEL REPEATABLE READ');
answer_is($reader, 'd', \@words, 'alpha', 'a transaction takes its snapshot');
publish_word('beta');
like($reader->error(q{SELECT acdat.publish('d', ARRAY['gamma'])}),
	qr/ERROR:  40001:/, 'it cannot publish over a version it does not see');
$reader->query('ROLLBACK');
answer_is($reader, 'd', \@words, 'beta', 'and changes nothing');

$reader->query('BEGIN ISOLATION LEVEL REPEATABLE READ');
$reader->query('SELECT 1');
publish($node, 'postgres', 'unseen', ['alpha']);
like($reader->error(q{SELECT acdat.publish('unseen', ARRAY['gamma'])}),
	qr/ERROR:  40001:/, 'nor over a dictionary it does not see');
$reader->query('ROLLBACK');

# ---- SERIALIZABLE ----

# Each reads what the other writes: one must fail, as with two tables.
$writer->query('CREATE TABLE journal (entry text)');
$reader->query('BEGIN ISOLATION LEVEL SERIALIZABLE');
$writer->query('BEGIN ISOLATION LEVEL SERIALIZABLE');
$reader->query($probe);
$writer->query('SELECT count(*) FROM journal');
$reader->query(q{INSERT INTO journal VALUES ('seen')});
publish_word('gamma');
my $errors = join '', map { $_->error('COMMIT') } ($writer, $reader);
like($errors, qr/ERROR:  40001:/,
	'SERIALIZABLE notices that a scan and a publish depend on one another');
$_->error('ROLLBACK') foreach ($writer, $reader);

$reader->query('BEGIN ISOLATION LEVEL SERIALIZABLE');
$writer->query('BEGIN ISOLATION LEVEL SERIALIZABLE');
$reader->query($probe);
publish_word('delta');
is($writer->error('COMMIT') . $reader->error('COMMIT'),
	'', 'a scan and a publish that do not depend on one another both commit');

# ---- Cursors ----

my $cursor = q{DECLARE c CURSOR FOR
	SELECT acdat.contains('alpha', 'd'), acdat.contains('beta', 'd') FROM generate_series(1, 100)};

publish_word('alpha');
$reader->query('BEGIN');
$reader->query($cursor);
publish_word('beta');
is($reader->query('FETCH 1 FROM c'), 't|f',
	'a cursor that was only opened before a publish keeps the old version');
publish_word('beta');
is($reader->query('FETCH 1 FROM c'), 't|f', 'a cursor keeps its version between fetches');
answer_is($reader, 'd', \@words, 'beta', 'a statement beside the cursor sees the new version');
is($reader->query('FETCH 1 FROM c'), 't|f', 'and does not change what the cursor sees');
$writer->query(q{SELECT acdat.drop_dictionary('d')});
is($reader->query('FETCH 1 FROM c'), 't|f', 'a cursor keeps its version over a drop');
$reader->query('COMMIT');
ok(wait_for_states($node, 'd', ''), 'when the cursor is closed the version goes');

publish_word('alpha');
$reader->query('BEGIN');
$reader->query($cursor);
is($reader->query('FETCH 1 FROM c'), 't|f', 'a cursor sees the version it was opened with');
$reader->query(q{SELECT acdat.publish('d', ARRAY['beta'])});
is($reader->query('FETCH 1 FROM c'), 't|f',
	'a cursor does not see a later publish of its own transaction');
answer_is($reader, 'd', \@words, 'beta', 'a later statement does');
is($reader->query('FETCH 1 FROM c'), 't|f', 'which does not change what the cursor sees');
$reader->query('COMMIT');

# ---- Call sites that outlive a snapshot ----

# One expression in a loop; before each turn it waits for the other session
# to publish.
$writer->query(q{
	CREATE FUNCTION follow(turns int) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
	DECLARE
		seen text := '';
	BEGIN
		FOR i IN 1 .. turns LOOP
			PERFORM pg_advisory_lock(2, i);
			seen := seen || CASE WHEN acdat.contains('alpha', 'd') THEN 'a' ELSE '-' END;
		END LOOP;
		RETURN seen;
	END $$});
$writer->query(q{
	CREATE FUNCTION stay(turns int) RETURNS text LANGUAGE plpgsql STABLE AS $$
	DECLARE
		seen text := '';
	BEGIN
		FOR i IN 1 .. turns LOOP
			PERFORM pg_advisory_lock(2, i);
			seen := seen || CASE WHEN acdat.contains('alpha', 'd') THEN 'a' ELSE '-' END;
		END LOOP;
		RETURN seen;
	END $$});

# Runs a function for six turns, publishing the patterns in turn before each,
# and returns what it saw.  The writer holds the locks the function waits for.
sub take_turns
{
	my ($function, @patterns) = @_;

	publish_word($patterns[0]);
	$writer->query('SELECT pg_advisory_lock(2, i) FROM generate_series(1, 6) i');
	$reader->send_query("SELECT $function(6)");
	foreach my $i (1 .. 6)
	{
		poll_until(sub {
				$writer->query('SELECT count(*) FROM pg_locks WHERE NOT granted AND classid = 2
					AND objid = ' . $i . ' AND pid = ' . $reader->pid) eq '1' })
		  or die "the function does not come to turn $i";
		publish_word($patterns[ $i - 1 ]) if $i > 1;
		$writer->query("SELECT pg_advisory_unlock(2, $i)");
	}
	my ($seen) = $reader->result;
	$reader->query('SELECT pg_advisory_unlock_all()');
	return $seen;
}

is(take_turns('follow', qw(alpha beta alpha alpha beta beta)), 'a-aa--',
	'an expression in a volatile PL/pgSQL function sees each new version');
is(take_turns('stay', qw(alpha beta alpha alpha beta beta)), 'aaaaaa',
	'in a stable function it keeps the version of the statement that called it');
is(take_turns('stay', qw(beta alpha alpha alpha beta beta)), '------',
	'also when that is the other one');

# The plan and the expression state stay cached between calls.
$writer->query(q{
	CREATE FUNCTION probe(value text) RETURNS boolean LANGUAGE plpgsql STABLE AS
	$$ BEGIN RETURN acdat.contains(value, 'd'); END $$});
my @seen;
foreach my $word (qw(alpha beta alpha beta))
{
	publish_word($word);
	push @seen, $reader->query(q{SELECT probe('alpha')});
}
is("@seen", 't f t f', 'a cached PL/pgSQL call site follows each publish');

# Two snapshots take turns at the same call site: that of a cursor, and that of
# each statement beside it.
foreach my $publisher ($writer, $reader)
{
	my $whose = $publisher == $reader ? 'its own transaction' : 'another session';

	publish_word('alpha');
	ok(wait_for_states($node, 'd', $writer->query(
				q{SELECT version FROM acdat.dictionaries WHERE name = 'd'}) . ':live'),
		'nothing is left to be settled');
	$reader->query('BEGIN');
	$reader->query(q{DECLARE c CURSOR FOR SELECT probe('alpha') FROM generate_series(1, 100)});
	@seen = ($reader->query('FETCH 1 FROM c'));
	$publisher->query(q{SELECT acdat.publish('d', ARRAY['beta'])});
	foreach my $i (1 .. 3)
	{
		push @seen, $reader->query(q{SELECT probe('alpha')}), $reader->query('FETCH 1 FROM c');
	}
	$reader->query('COMMIT');
	is("@seen", 't f t f t f t',
		"a call site that an older and a newer snapshot share answers each, after a publish by $whose");
}

$reader->query(q{PREPARE p AS SELECT acdat.contains('alpha', 'd')});
@seen = ();
foreach my $word (qw(alpha beta alpha beta))
{
	publish_word($word);
	push @seen, $reader->query('EXECUTE p');
}
is("@seen", 't f t f', 'a prepared statement follows each publish');

publish_word('beta');
is($reader->query(q{
		DO $$
		DECLARE
			seen text := '';
		BEGIN
			FOR i IN 1 .. 4 LOOP
				PERFORM acdat.publish('d', ARRAY[CASE WHEN i % 2 = 1 THEN 'alpha' ELSE 'beta' END]);
				seen := seen || CASE WHEN acdat.contains('alpha', 'd') THEN 'a' ELSE '-' END;
				IF i = 3 THEN
					BEGIN
						PERFORM acdat.publish('d', ARRAY['beta']);
						seen := seen || CASE WHEN acdat.contains('alpha', 'd') THEN 'a' ELSE '-' END;
						RAISE division_by_zero;
					EXCEPTION WHEN division_by_zero THEN
						seen := seen || CASE WHEN acdat.contains('alpha', 'd') THEN 'a' ELSE '-' END;
					END;
				END IF;
			END LOOP;
			PERFORM set_config('test.seen', seen, false);
		END $$;
		SELECT current_setting('test.seen')}),
	"a-a-a-", 'one call site follows publishes of its own transaction and their undoing');

# A query that was running when a version was published ends with it.
publish_word('alpha');
$writer->query('SELECT pg_advisory_lock(3)');
$reader->send_query(q{SELECT string_agg(acdat.contains('alpha', 'd')::text, ' ')
	FROM (SELECT CASE WHEN i = 2 THEN pg_advisory_lock_shared(3) END
		FROM generate_series(1, 3) i OFFSET 0) s});
wait_for_lock($node, $reader) or die 'the query does not wait';
publish_word('beta');
$writer->query('SELECT pg_advisory_unlock(3)');
is(($reader->result)[0], 'true true true',
	'a statement that runs during a publish keeps its version for all rows');
answer_is($reader, 'd', \@words, 'beta', 'and the next one has the new version');

$_->quit foreach ($writer, $reader);
$node->stop;
done_testing();
