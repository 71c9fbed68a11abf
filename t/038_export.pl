# An exported dictionary does outside the server what it does inside: the acdat
# command and another cluster give the same bytes.

use strict;
use warnings;

use AcdatTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $acdat = $ENV{ACDAT_BIN} || 'build/acdat';
my $scratch = PostgreSQL::Test::Utils::tempdir;
my $node = new_node('main');
my $other = new_node('other', preload => 0);

sub write_file
{
	my ($name, $bytes) = @_;
	my $path = "$scratch/$name";

	open my $file, '>:raw', $path or die "$path: $!";
	print $file $bytes;
	close $file;
	return $path;
}

sub exported
{
	my ($name) = @_;

	return pack 'H*', sql($node, 'postgres', "SELECT encode(acdat.export('$name'), 'hex')");
}

sub output_of
{
	my (@command) = @_;
	my ($stdout, $stderr) = ('', '');

	IPC::Run::run(\@command, '>', \$stdout, '2>', \$stderr) or die "@command: $stderr";
	return $stdout;
}

# A log with names in several spellings, longer than any buffer.
my @lines = map {
	sprintf "line %d: %s paid with 4929-1234-5678-%04d, k\xC3\xB6ln \xE6\x95\x8F\xE6\x84\x9F\n",
	  $_, ('Alice Miller', 'ALICE MILLER', 'Bob', 'alice  miller')[ $_ % 4 ], $_ % 10000 } 1 .. 20000;
my $text = join '', @lines;
my $input = write_file('log', $text);

sql($node, 'postgres', q{CREATE TABLE logs (body text)});
sql($node, 'postgres', "COPY logs FROM '$input'");
publish($node, 'postgres', 'rules',
	q{SELECT * FROM (VALUES ('alice miller', '<name>'), ('4929 1234 5678', '<card>'), ('敏感', '')) v(pattern, replacement)},
	case_insensitive => "'unicode'", ignore => "' -'", reader => "'public'");

my $image = write_file('rules.acdat', exported('rules'));

foreach my $case (
	[ 'redact', q{acdat.redact(%s, 'rules')}, 'redact' ],
	[ 'redact in style fixed', q{acdat.redact(%s, 'rules', 'fixed', '<>')}, 'redact', '--style=fixed', '--mask=<>' ],
	[ 'replace', q{acdat.replace(%s, 'rules')}, 'replace' ])
{
	my ($what, $call, $command, @options) = @$case;
	my $inside = "$scratch/inside";
	my $outside = output_of($acdat, $command, '--lines', @options, $image, $input);

	sql($node, 'postgres', sprintf(q{COPY (SELECT %s FROM logs) TO '%s'}, sprintf($call, 'body'), $inside));
	ok(slurp_file($inside) eq $outside, "$what: the command gives the same bytes as the server");
	ok($outside ne $text, 'which are not those of the log');
}

# ---- Another cluster, without preload ----

my $hex = unpack 'H*', exported('rules');

sql($other, 'postgres', 'CREATE TABLE machines (name text, machine acdat.machine)');
sql($other, 'postgres', "INSERT INTO machines VALUES ('rules', acdat.import_machine('\\x$hex'))");
is(sql($other, 'postgres', q{SELECT acdat.redact('Ask ALICE-MILLER', machine) FROM machines}),
	'Ask ************', 'another cluster imports and uses it');

# Of damaged bytes nothing gets in; each is refused with a reason.
my $bytes = pack 'H*', $hex;
my ($refused, $other_errors) = (0, '');

foreach my $i (1 .. 200)
{
	my $damaged = $bytes;

	substr($damaged, int(rand(length $damaged)), 1) ^= chr(1 + int(rand(255)));
	my $error = sql_error($other, 'postgres',
		q{SELECT acdat.redact('Alice Miller', acdat.import_machine('\x} . unpack('H*', $damaged) . q{'))});

	if ($error =~ m/22P03: invalid value for type acdat\.machine\nDETAIL: .*\w/)
	{
		$refused++;
	}
	else
	{
		$other_errors .= $error || 'accepted';
	}
}
is($refused, 200, 'damaged bytes are refused with a reason') or diag($other_errors);

$other->stop;
$node->stop;
done_testing();
