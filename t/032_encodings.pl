# Databases of encodings other than UTF8: single-byte ones work on their
# characters, other multi-byte ones are refused.

use strict;
use warnings;

use AcdatTest;
use Test::More;

my $node = new_node('encodings');

foreach my $encoding (qw(LATIN1 EUC_JP))
{
	sql($node, 'postgres', "CREATE DATABASE " . lc($encoding)
		  . " TEMPLATE template0 ENCODING '$encoding' LC_COLLATE 'C' LC_CTYPE 'C'");
	sql($node, lc($encoding), 'CREATE EXTENSION acdat_bgw');
}

# ---- One byte, one character ----

# The client speaks UTF8; the server stores bytes of its own.
my $utf8 = 'SET client_encoding = UTF8;';

is(sql($node, 'latin1', "$utf8 SELECT acdat.publish('names', ARRAY['M\xc3\xbcller', '\xc3\xa9t\xc3\xa9'], case_insensitive => 'ascii')"),
	1, 'a dictionary of a LATIN1 database is published');
is(sql($node, 'latin1', "$utf8 SELECT acdat.redact('Frau M\xc3\xbcLLER, \xc3\xa9t\xc3\xa9', 'names')"),
	'Frau ******, ***', 'and hides characters, not bytes of UTF8');
is(sql($node, 'latin1', "$utf8 SELECT byte_pos, byte_len, char_pos, char_len FROM acdat.matches('\xc3\xa9\xc3\xa9 M\xc3\xbcller', 'names')"),
	'4|6|4|6', 'positions are those of LATIN1');
like(sql_error($node, 'latin1', "SELECT acdat.publish('other', ARRAY['x'], case_insensitive => 'unicode')"),
	qr/ERROR:  0A000: .*\nHINT:/, 'options that need Unicode are refused');
is(sql($node, 'latin1', 'SELECT count(*) FROM acdat.dictionary'), 1, 'and nothing is stored');

# ---- Other multi-byte encodings ----

like(sql_error($node, 'euc_jp', $_), qr/ERROR:  0A000:/, "$_ is refused with EUC_JP")
  foreach "SELECT acdat.publish('names', ARRAY['x'])",
  "SELECT acdat.contains('x'::text, acdat.compile('x'::text))";
is(sql($node, 'euc_jp', "SELECT acdat.contains('\\x78'::bytea, acdat.compile('\\x78'::bytea))"),
	't', 'bytes can be matched in any database');

# ---- A dictionary used across encodings ----

publish($node, 'postgres', 'everywhere', ['alpha'], cluster => 'true');
like(sql_error($node, 'latin1', "SELECT acdat.contains('alpha', 'everywhere')"),
	qr/ERROR:  22023: .*\n(?:DETAIL:.*\n)?HINT:/, 'a text is not scanned with a machine of another encoding');

$node->stop;
done_testing();
