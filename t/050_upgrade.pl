# From every script to the newest library; and when library and SQL objects do
# not fit together, errors say what to run.
#
# Versions that do not exist are made of copied scripts with another stamp,
# and are gone from the server's folder when this ends.

use strict;
use warnings;

use AcdatTest;
use PostgreSQL::Test::Utils qw(slurp_file);
use Test::More;

my ($newest) = slurp_file('acdat_bgw.control') =~ m/^default_version = '(.+)'$/m;
my $older = '0.9';
my $newer = '99.0';
my $node = new_node('upgrade');
my $folder = $node->config_data('--sharedir') . '/extension';
my @made;

END { unlink @made; }

sub make_script
{
	my ($name, $text) = @_;

	push @made, "$folder/acdat_bgw--$name.sql";
	open(my $file, '>', $made[-1]) or die "$made[-1]: $!";
	print $file $text;
	close($file) or die "$made[-1]: $!";
	return;
}

# The newest script as if it were of another version.
sub stamped
{
	my ($version) = @_;

	return slurp_file("sql/acdat_bgw--$newest.sql") =~
	  s/(require_library\(')\Q$newest\E/$1$version/r;
}

# Names, arguments and comments of all there is in the extension.
sub objects_of
{
	my ($database) = @_;

	return sql($node, $database, q{
		SELECT pg_describe_object(classid, objid, 0) || ': ' ||
			coalesce(obj_description(objid, classid::regclass::name), '')
		FROM pg_depend WHERE deptype = 'e' AND refclassid = 'pg_extension'::regclass
			AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'acdat_bgw')
		ORDER BY 1});
}

# ---- What is there ----

my ($library) = slurp_file('shmem/extension_version.h') =~ m/LIBRARY_VERSION "(.+)"/;
my ($packaged) = slurp_file('META.json') =~ m/"version": "(.+)\.\d+",/;

is($library, $newest, 'the library is of the version that is installed by default');
is($packaged, $newest, 'so is the package');

sql($node, 'postgres', 'CREATE DATABASE fresh');
sql($node, 'fresh', 'CREATE EXTENSION acdat_bgw');
my @versions = split /\n/,
  sql($node, 'postgres', q{SELECT version FROM pg_available_extension_versions
	WHERE name = 'acdat_bgw' ORDER BY version});

is(scalar(grep { $_ eq $newest } @versions), 1, 'the newest version can be installed');

# ---- From every version to the newest ----

make_script($older, stamped($older));
make_script("$older--$newest", "SELECT acdat.require_library('$newest');\n");

foreach my $version ($older, grep { $_ ne $newest } @versions)
{
	(my $database = "from_$version") =~ s/\W/_/g;

	sql($node, 'postgres', "CREATE DATABASE $database");
	sql($node, $database, "CREATE EXTENSION acdat_bgw VERSION '$version'");
	if ($version eq $older)
	{
		foreach my $call (q{publish('d', ARRAY['x'])}, q{contains('x', 'd')}, q{drop_dictionary('d')})
		{
			like(sql_error($node, $database, "SELECT acdat.$call"),
				qr/ERROR:  55000: SQL objects of .* older .*\nDETAIL:.* $library, .* \Q$older\E\.\nHINT:.*ALTER EXTENSION acdat_bgw UPDATE/,
				"$call on objects that are too old says what to run");
		}
	}
	else
	{
		publish($node, $database, 'd', ['before']);
	}
	sql($node, $database, 'ALTER EXTENSION acdat_bgw UPDATE');
	is(sql($node, $database, q{SELECT extversion FROM pg_extension WHERE extname = 'acdat_bgw'}),
		$newest, "$version is updated");
	is(objects_of($database), objects_of('fresh'), "$version has become what a fresh one is");
	publish($node, $database, 'd', ['x']);
	is(sql($node, $database, q{SELECT acdat.contains('x', 'd')}), 't', "$version works updated");
}

# ---- Files of a newer version, and a server that was not restarted ----

make_script($newer, stamped($newer));
make_script("$newest--$newer", "SELECT acdat.require_library('$newer');\n");

my $restart =
  qr/ERROR:  55000: library of .* older .*\nDETAIL:.* $library, .* \Q$newer\E\.\nHINT:  Restart the server/;

sql($node, 'postgres', 'CREATE DATABASE newer');
like(sql_error($node, 'newer', "CREATE EXTENSION acdat_bgw VERSION '$newer'"), $restart,
	'objects of a newer version are not installed without its library');
publish($node, 'fresh', 'd', ['x']);
like(sql_error($node, 'fresh', "ALTER EXTENSION acdat_bgw UPDATE TO '$newer'"), $restart,
	'nor is there an update to them');
is(sql($node, 'fresh', q{SELECT acdat.contains('x', 'd')}), 't', 'everything works as before');

# What a server says that an older library came back to.
sql($node, 'fresh', "UPDATE pg_extension SET extversion = '$newer' WHERE extname = 'acdat_bgw'");
like(sql_error($node, 'fresh', q{SELECT acdat.publish('d', ARRAY['y'])}), $restart,
	'an older library changes nothing in newer objects');
$node->stop;
$node->start;
like(sql_error($node, 'fresh', q{SELECT acdat.contains('x', 'd')}), $restart,
	'nor does it read them');
is(sql($node, 'from_0_9', q{SELECT acdat.contains('x', 'd')}), 't',
	'other databases have no part in it');
sql($node, 'fresh', "UPDATE pg_extension SET extversion = '$newest' WHERE extname = 'acdat_bgw'");
is(sql($node, 'fresh', q{SELECT acdat.contains('x', 'd')}), 't',
	'with the right library it is loaded again');

$node->stop;
done_testing();
