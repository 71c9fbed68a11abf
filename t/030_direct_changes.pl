# Rows that were changed by hand, or arrived damaged: the registry follows
# them, and one bad row harms no other dictionary.

use strict;
use warnings;

use AcdatTest;
use Test::More;

my $node = new_node('direct_changes');

publish($node, 'postgres', 'first', ['alpha']);
publish($node, 'postgres', 'open', ['alpha'], reader => "'public'");
publish($node, 'postgres', 'last', ['alpha']);
sql($node, 'postgres', 'CREATE ROLE visitor LOGIN');

my $scan = "SELECT acdat.contains('alpha', 'open')";

is(sql($node, 'postgres', $scan, user => 'visitor'), 't',
	'a role scans with a dictionary that is open to the public');
sql($node, 'postgres', q(UPDATE acdat.dictionary SET reader = NULL WHERE name = 'open'));
ok(poll_until(sub { sql_error($node, 'postgres', $scan, user => 'visitor') =~ m/42501/ }),
	'and no more once its row was edited, revision or not');
sql($node, 'postgres', q(UPDATE acdat.dictionary SET name = 'renamed' WHERE name = 'last'));
ok(poll_until(sub {
		sql($node, 'postgres', q(
			SELECT count(*) FROM acdat.generations WHERE dictionary = 'renamed' AND state = 'live'))
		  eq '1' }),
	'a name that was edited is followed');
is(sql($node, 'postgres', q(SELECT acdat.contains('alpha', 'renamed'))), 't',
	'and the dictionary answers to it');
like(sql_error($node, 'postgres', q(SELECT acdat.contains('alpha', 'last'))), qr/42704/,
	'and no more to the old one');

# Serializable transactions of one session: each leaves its mark.
my $locks = q(
	BEGIN ISOLATION LEVEL SERIALIZABLE;
	SELECT acdat.contains('alpha', 'first');
	SELECT count(*) > 0 FROM pg_locks
		WHERE mode = 'SIReadLock' AND relation = 'acdat.dictionary'::regclass;
	COMMIT;);

is(sql($node, 'postgres', "$locks $locks"), "t\nt\nt\nt",
	'every serializable transaction reads the row, not only the first of a session');

# A row that cannot be understood.
sql($node, 'postgres', q(
	UPDATE acdat.dictionary_version SET boundary = 'unheard of'
	WHERE dictionary = (SELECT id FROM acdat.dictionary WHERE name = 'first')));
$node->restart;
is(sql($node, 'postgres', q(SELECT acdat.contains('alpha', 'renamed'))), 't',
	'after a restart a damaged row keeps no other dictionary from being loaded');

my $error = sql_error($node, 'postgres', q(SELECT acdat.contains('alpha', 'first')));
like($error, qr/55000: dictionary "first" could not be loaded/,
	'the damaged one raises, it is not empty');
like($error, qr/DETAIL: +stored options of a dictionary are not valid/,
	'and says why');
is(sql($node, 'postgres', q(SELECT state FROM acdat.generations WHERE dictionary = 'first')),
	'failed', 'as the view does');
publish($node, 'postgres', 'first', ['beta'], boundary => "'none'")
  if sql_error($node, 'postgres', q(SELECT acdat.drop_dictionary('first'))) eq '';
is(sql($node, 'postgres', q(SELECT acdat.contains('beta', 'first'))), 't',
	'it can be dropped and published again');
$node->stop;

done_testing();
