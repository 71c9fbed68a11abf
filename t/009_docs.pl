# The statements on the pages in doc/ run as they are printed, and return what
# is printed below them.

use strict;
use warnings;

use AcdatTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('docs', extension => 0);

foreach my $page (qw(tutorial cookbook migration))
{
	my @blocks = documented_statements("doc/$page.md");

	sql($node, 'postgres', "CREATE DATABASE $page");
	ok(@blocks > 0, "$page.md shows statements");
	foreach my $block (@blocks)
	{
		my ($output, $error) = run_documented($node, $page, $block->{sql});

		is($error, '', "$page.md, line $block->{line}: the statements run");
		is($output, $block->{output}, 'and return what is printed')
		  if defined $block->{output};
	}
}

$node->stop;
done_testing();
