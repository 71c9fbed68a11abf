# acdat.pattern_hits beyond one session: parallel workers, sessions that are
# terminated, more patterns than there is room for, dictionaries that go.

use strict;
use warnings;

use AcdatTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $ROOM = 40;
my $node = new_node('pattern_hits', conf => <<"CONF");
acdat_bgw.max_tracked_patterns = $ROOM
acdat_bgw.track_hits = on
CONF

# "id:hits" of a dictionary, the most frequent first.
sub hits
{
	my ($name) = @_;

	return sql($node, 'postgres',
		"SELECT coalesce(string_agg(pattern_id || ':' || hits, ' ' ORDER BY hits DESC, pattern_id), '')
		 FROM acdat.pattern_hits WHERE dictionary = " . quote_text($name));
}

sub untracked
{
	my ($name) = @_;

	return sql($node, 'postgres',
		'SELECT untracked_hits FROM acdat.stats WHERE dictionary = ' . quote_text($name));
}

# All hits of a dictionary, whether they have a row or not.
sub all_hits
{
	my ($name) = @_;

	return sql($node, 'postgres',
		'SELECT (SELECT coalesce(sum(hits), 0) FROM acdat.pattern_hits h WHERE h.dictionary = s.dictionary)
			+ untracked_hits FROM acdat.stats s WHERE dictionary = ' . quote_text($name));
}

publish($node, 'postgres', 'd', [ 'alpha', 'omega' ]);

# ---- Parallel workers ----

sql($node, 'postgres', q{
	CREATE TABLE document (body text) WITH (parallel_workers = 2);
	INSERT INTO document SELECT CASE i % 5 WHEN 0 THEN 'alpha' WHEN 1 THEN 'omega alpha' ELSE 'delta' END
	FROM generate_series(1, 5000) i;
	VACUUM ANALYZE document});
my $session = parallel_session($node, 'postgres');
my $count = q{SELECT sum(acdat.count_matches(body, 'd')) FROM document};
is(workers_launched($session, $count), 2, 'two workers take part');
sql($node, 'postgres', 'SELECT acdat.stats_reset()');
is($session->query($count), 3000, 'they find what there is');
is(hits('d'), '1:2000 2:1000', 'their hits add up');

# ---- Sessions that end ----

sql($node, 'postgres', 'SELECT acdat.stats_reset()');
$session->query('BEGIN');
$session->query(q{SELECT acdat.contains('omega', 'd')});
is(hits('d'), '', 'an open transaction keeps its hits');
sql($node, 'postgres', 'SELECT pg_terminate_backend(' . $session->pid . ')');
ok(poll_until(sub { hits('d') eq '2:1' }), 'a session that is terminated adds them up');
$session->quit;

# ---- More patterns than there is room for ----

publish($node, 'postgres', 'many', q{SELECT md5(i::text) AS pattern, i AS id FROM generate_series(1, 3000) i});
sql($node, 'postgres', 'SELECT acdat.stats_reset()');

# some often, and all others once or twice, in between
sql($node, 'postgres', q{
	SELECT sum(acdat.count_matches(md5(i::text), 'many') + acdat.count_matches(md5((i % 5 + 1)::text), 'many'))
	FROM generate_series(1, 3000) i});
my @rows = split / /, hits('many');
cmp_ok(scalar @rows, '<=', $ROOM, 'there are no more rows than there is room for');
cmp_ok(scalar @rows, '>', $ROOM / 2, 'and not many fewer');
is(join(' ', sort @rows[ 0 .. 4 ]), '1:601 2:601 3:601 4:601 5:601', 'the frequent ones are all there, with all their hits');
is(all_hits('many'), 6000, 'no hit is lost');
cmp_ok(untracked('many'), '>', 2000, 'those without a row are counted for their dictionary');

# hits by several sessions at a time, of patterns that drive each other out
my @sessions = map { session($node, 'postgres') } 1 .. 4;
$_->send_query(q{SELECT sum(acdat.count_matches(md5(i::text), 'many')) FROM generate_series(1, 3000) i}) foreach @sessions;
is(($_->result)[0], 3000, 'a session finds them all') foreach @sessions;
is(all_hits('many'), 6000 + 4 * 3000, 'no hit is lost among several sessions');
$_->quit foreach @sessions;

sql($node, 'postgres', q{SELECT acdat.stats_reset('many')});
is(all_hits('many'), 0, 'beginning anew forgets all');

# ---- Rows go with their dictionaries ----

foreach my $i (1 .. 3)
{
	sql($node, 'postgres', qq{
		SELECT acdat.publish('passing', 'SELECT i || ''.'' AS pattern, i + 1000 * $i AS id FROM generate_series(1, $ROOM) i');
		SELECT acdat.count_matches(string_agg(i || '.', ' '), 'passing') FROM generate_series(10, $ROOM) i;
		SELECT acdat.drop_dictionary('passing')});
}
is(hits('passing'), '', 'a dictionary that is dropped takes its rows along');
publish($node, 'postgres', 'passing', ['alpha']);
is(hits('passing') . untracked('passing'), 0, 'one of its name begins with none');
sql($node, 'postgres', qq{
	SELECT acdat.stats_reset();
	SELECT sum(acdat.count_matches(md5(i::text), 'many')) FROM generate_series(1, $ROOM) i});
is(scalar(split / /, hits('many')), $ROOM, 'the room is free again');
is(untracked('many'), 0, 'all of it');

# ---- No room at all ----

$node->append_conf('postgresql.conf', 'acdat_bgw.max_tracked_patterns = 0');
$node->restart;
is(sql($node, 'postgres', q{SELECT acdat.count_matches('alpha omega', 'd')}), 2, 'without room scans go on');
is(hits('d') . ' ' . untracked('d'), ' 2', 'hits are counted for the dictionary');

# ---- The server log ----

publish($node, 'postgres', 'everywhere', ['beta'], cluster => 'true', reader => quote_text('public'));
sql($node, 'postgres', q{ALTER SYSTEM SET acdat_bgw.log_dictionary = 'everywhere'});
sql($node, 'postgres', 'SELECT pg_reload_conf()');
ok( poll_until(sub {
		sql_error($node, 'postgres', q{SELECT 'beta' || 1/0});
		return sql($node, 'postgres', q{SELECT matches > 0 FROM acdat.stats WHERE dictionary = 'everywhere'}) eq 't';
	}),
	'the server log is redacted');
is(hits('everywhere') . untracked('everywhere'), 0, 'which counts matches, but no hits');

done_testing();
