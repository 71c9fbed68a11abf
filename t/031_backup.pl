# Rows travel by pg_dump and by logical replication, and answer where they
# arrive by themselves; what is published is in no server's log.

use strict;
use warnings;

use AcdatTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('origin', init => { allows_streaming => 'logical' });

# ---- pg_dump ----

sql($node, 'postgres', 'CREATE ROLE clerk');
publish($node, 'postgres', 'terms', [ 'alpha', 'beta' ]);
publish($node, 'postgres', 'terms', ['Wolpertinger'],
	reader => "'clerk'", case_insensitive => "'unicode'");
sql($node, 'postgres', 'CREATE DATABASE copy TEMPLATE template0');

my $dump = PostgreSQL::Test::Utils::tempdir . '/dump.sql';

$node->command_ok([ 'pg_dump', '-f', $dump, 'postgres' ], 'a database with dictionaries is dumped');
$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', $dump, 'copy' ],
	'and restored');
is(sql($node, 'copy', answer('terms', 'alpha', 'WOLPERTINGER')), 'WOLPERTINGER',
	'the copy answers at its first use');
is(sql($node, 'copy', "SELECT reader FROM acdat.dictionaries WHERE name = 'terms'"), 'clerk',
	'with its reader');
is(sql($node, 'copy', "SELECT acdat.rollback('terms', 1)"), 3, 'kept versions came along');
is(sql($node, 'copy', answer('terms', 'alpha', 'wolpertinger')), 'alpha', 'and can be used');
is(sql($node, 'postgres', answer('terms', 'alpha', 'wolpertinger')), 'wolpertinger',
	'the original is not touched by that');

# In several processes at a time, and into a server without the library.
my $archive = PostgreSQL::Test::Utils::tempdir . '/archive';
my $plain = new_node('plain', preload => 0, extension => 0);

sql($node, 'postgres', <<'SQL');
CREATE TABLE words (pattern text);
INSERT INTO words VALUES ('alpha');
SELECT acdat.publish('followed', 'SELECT pattern FROM words');
SELECT acdat.attach('followed', 'words', '50 ms');
CREATE DATABASE parallel TEMPLATE template0;
SQL
$node->command_ok([ 'pg_dump', '-Fd', '-j', '3', '-f', $archive, 'postgres' ], 'a dump of several processes');
sql($plain, 'postgres', 'CREATE ROLE clerk; CREATE DATABASE parallel');
foreach my $target ($node, $plain)
{
	my $name = $target->name;

	$target->command_ok([ 'pg_restore', '-e', '-j', '3', '-d', 'parallel', $archive ],
		"is restored by several in $name");
	if ($target == $plain)
	{
		like(sql_error($plain, 'parallel', answer('terms', 'x')), qr/55000: .*shared_preload_libraries/,
			'where the library is not preloaded, use waits for that');
		$plain->append_conf('postgresql.conf', preload_conf());
		$plain->stop;
		$plain->start;
	}
	is(sql($target, 'parallel', answer('terms', 'alpha', 'WOLPERTINGER')), 'WOLPERTINGER',
		"and answers in $name");
	is(sql($target, 'parallel', "TABLE acdat.dictionary_version ORDER BY dictionary, version"),
		sql($node, 'postgres', "TABLE acdat.dictionary_version ORDER BY dictionary, version"),
		'as all rows came along');
	sql($target, 'parallel', "INSERT INTO words VALUES ('beta')");
	ok($target->poll_query_until('parallel', answer('followed', 'alpha', 'beta', 'gamma'), 'alpha beta'),
		'and a change of the attached table is followed');
}
sql($node, 'postgres', "SELECT acdat.drop_dictionary('followed')");
$plain->stop;

# ---- Logical replication ----

my $subscriber = new_node('subscriber');
my $connection = quote_text($node->connstr('postgres'));

sql($node, 'postgres',
	'CREATE PUBLICATION dictionaries FOR TABLE acdat.dictionary, acdat.dictionary_version');
sql($subscriber, 'postgres',
	"CREATE SUBSCRIPTION dictionaries CONNECTION $connection PUBLICATION dictionaries");

# The row may come before its patterns, which is no reason to wait for long.
# There is no role clerk here: that must not keep the row from arriving.
ok(poll_until(sub { sql_error($subscriber, 'postgres', answer('terms', 'x')) eq '' }),
	'a dictionary arrives at a subscriber');
is(sql($subscriber, 'postgres', answer('terms', 'alpha', 'wolpertinger')), 'wolpertinger',
	'which answers as the origin does');
publish($node, 'postgres', 'terms', ['gamma']);
ok(poll_until(sub {
		sql($subscriber, 'postgres', answer('terms', 'gamma', 'wolpertinger')) eq 'gamma' }),
	'and follows what is published there');
sql($node, 'postgres', "SELECT acdat.drop_dictionary('terms')");
ok(poll_until(sub { sql_error($subscriber, 'postgres', answer('terms', 'x')) =~ m/42704/ }),
	'and what is dropped');

# ---- Logs ----

like(sql_error($node, 'postgres',
		q(SELECT acdat.publish('bad', $$SELECT unnest(ARRAY['Wolper' || 'tinger', NULL]) AS pattern$$))),
	qr/22004/, 'a publish fails at its second row');
unlike(slurp_file($_->logfile), qr/wolpertinger/i, 'no log of ' . $_->name . ' shows a pattern')
  foreach $node, $subscriber;

$subscriber->stop;
$node->stop;
done_testing();
