# The table of cases in t/unit/cases.c, through SQL: with a published
# dictionary and a machine value, on values of type text and bytea.
#
# A case of bytes has its patterns published as bytea, one of UTF-8 as text;
# where all of a case is ASCII both mean the same, and both are tried.

use strict;
use warnings;

use AcdatTest;
use Test::More;

my $printer = 'build/tools/print_cases';
my @fields = qw(name encoding case_insensitive normalization boundary ignore
  chars text all_overlapping leftmost_longest leftmost_first merged replaced
  masked);
my @policies = qw(all_overlapping leftmost_longest leftmost_first);
my @options = qw(case_insensitive normalization boundary);
my %hexadecimal = map { $_ => 1 } grep { !/^(encoding|chars)$/ } @fields;
delete @hexadecimal{@options};

my $mask = "\xe2\x96\x88";

# ---- The table ----

sub bytes_of
{
	my ($field) = @_;

	return $field eq '-' ? undef : pack 'H*', $field;
}

sub read_pattern
{
	my ($line) = @_;
	my %pattern;

	@pattern{qw(bytes id priority replacement allow)} = split /,/, $line;
	$pattern{$_} = bytes_of($pattern{$_}) foreach qw(bytes replacement);
	return \%pattern;
}

sub read_case
{
	my ($line, $number) = @_;
	my @values = split /\t/, $line, -1;
	my %case = (number => $number);

	foreach my $field (@fields)
	{
		my $value = shift @values;

		$case{$field} = $hexadecimal{$field} ? bytes_of($value) : $value;
	}
	$case{patterns} = [ map { read_pattern($_) } @values ];
	return \%case;
}

sub read_cases
{
	my @lines = split /\n/, qx($printer);

	die "could not run $printer: $?" if $? != 0 || !@lines;
	return map { read_case($lines[$_], $_) } 0 .. $#lines;
}

sub is_text
{
	my ($bytes) = @_;

	return $bytes !~ m/\0/ && utf8::decode(my $copy = $bytes);
}

# The types that patterns of a case can have without changing what it means.
sub pattern_types
{
	my ($case) = @_;
	my @given = map { ($_->{bytes}, $_->{replacement} // ()) } @{ $case->{patterns} };
	my $ascii = !grep { m/[^\x01-\x7f]/ } @given, $case->{text};

	return (
		$case->{encoding} eq 'bytes' ? 'bytea' : (),
		($case->{encoding} eq 'utf8' && !grep { !is_text($_) } @given) || $ascii
		? 'text' : ());
}

# A machine value knows neither options nor exceptions.
sub has_machine
{
	my ($case) = @_;

	return @{ $case->{patterns} } > 0
	  && !defined $case->{ignore}
	  && !grep({ $case->{$_} ne 'none' } @options)
	  && !grep({ $_->{allow} eq 'true' } @{ $case->{patterns} });
}

# ---- Statements ----

sub literal
{
	my ($bytes, $type) = @_;

	return "NULL::$type" unless defined $bytes;
	my $bytea = "decode('" . unpack('H*', $bytes) . "', 'hex')";
	return $type eq 'text' ? "convert_from($bytea, 'UTF8')" : $bytea;
}

sub hex_of
{
	my ($expression, $type) = @_;

	$expression = "convert_to($expression, 'UTF8')" if $type eq 'text';
	return "encode($expression, 'hex')";
}

sub dictionary_name
{
	my ($case, $type) = @_;

	return "'$type $case->{number}'::text";
}

sub rows_of
{
	my ($case, $type) = @_;

	return 'SELECT NULL::' . $type . ' AS pattern WHERE false'
	  unless @{ $case->{patterns} };
	return 'SELECT * FROM (VALUES '
	  . join(', ',
		map {
			'(' . literal($_->{bytes}, $type)
			  . ", ($_->{id})::bigint, ($_->{priority})::integer, "
			  . literal($_->{replacement}, $type)
			  . ", 'tag of $_->{id}'::text, $_->{allow})"
		} @{ $case->{patterns} })
	  . ') AS v(pattern, id, priority, replacement, tag, allow)';
}

# Without output, which is left to the checks.
sub publish_statement
{
	my ($case, $type) = @_;
	my @given = map { "$_ => '$case->{$_}'" } @options;

	push @given, 'ignore => ' . literal($case->{ignore}, 'text')
	  if defined $case->{ignore};
	return 'DO $do$ BEGIN PERFORM acdat.publish(' . dictionary_name($case, $type)
	  . ', ' . quote_text(rows_of($case, $type)) . ', '
	  . join(', ', @given, 'allow_empty => true') . '); END $do$;';
}

sub compile_statement
{
	my ($case, $type) = @_;

	return 'INSERT INTO machines SELECT ' . dictionary_name($case, $type)
	  . ', acdat.compile(pattern, id, priority, replacement) FROM ('
	  . rows_of($case, $type) . ') AS rows;';
}

# Matches in one line, positions from 0 and half-open as in the table.
sub matches_expression
{
	my ($value, $dictionary, $policy) = @_;

	return "(SELECT coalesce(string_agg(concat(byte_pos - 1, '-', byte_pos - 1 + byte_len,"
	  . " '/' || (char_pos - 1) || '-' || (char_pos - 1 + char_len),"
	  . " ':', pattern_id, ' (' || tag || ')'), ', ' ORDER BY o), '')"
	  . " FROM acdat.matches($value, $dictionary, '$policy') WITH ORDINALITY"
	  . ' AS m(pattern_id, priority, tag, byte_pos, byte_len, char_pos, char_len, o))';
}

# ---- Expectations ----

# Where each character begins, and the end; nothing if it is not text.
sub character_starts
{
	my ($text) = @_;
	my @starts = (0);

	return unless utf8::decode($text);
	foreach my $character (split //, $text)
	{
		utf8::encode($character);
		push @starts, $starts[-1] + length $character;
	}
	return @starts;
}

# The expected matches as [start, end, id], in bytes.
sub expected_matches
{
	my ($case, $expected) = @_;
	my @starts = $case->{chars} ? character_starts($case->{text}) : ();

	return map {
		m/^(\d+)-(\d+)(?::(-?\d+))?$/ or die "$case->{name}: $_";
		$case->{chars} ? [ $starts[$1], $starts[$2], $3 ] : [ $1, $2, $3 ]
	} split / /, $expected;
}

# As matches_expression() shows them.
sub show_matches
{
	my ($case, $expected, $value_type, $tags) = @_;
	my @starts = character_starts($case->{text});
	my %character = map { $starts[$_] => $_ } 0 .. $#starts;
	my @shown;

	foreach my $match (expected_matches($case, $expected))
	{
		my ($start, $end, $id) = @$match;
		my $shown = "$start-$end";

		$shown .= "/$character{$start}-$character{$end}" if $value_type eq 'text';
		$shown .= ":$id" if defined $id;
		$shown .= " (tag of $id)" if defined $id && $tags;
		push @shown, $shown;
	}
	return join ', ', @shown;
}

# The text with the merged matches hidden behind a fixed mask.
sub fixed_mask
{
	my ($case) = @_;
	my $text = $case->{text};

	substr($text, $_->[0], $_->[1] - $_->[0], $mask)
	  foreach reverse expected_matches($case, $case->{merged});
	return $text;
}

# What contains() must say, if the case says anything about it.
sub expected_contains
{
	my ($case) = @_;
	my @given = grep { defined } @{$case}{ @policies, 'merged' };

	return @given ? ($given[0] eq '' ? 'f' : 't') : ();
}

# The mask of a value of type bytea is a byte: then "*" instead.
sub with_mask_of
{
	my ($masked, $value_type) = @_;

	$masked =~ s/$mask/*/g if defined $masked && $value_type eq 'bytea';
	return $masked;
}

# What is to be tried on a value: a sentence, an expression and its outcome.
sub checks
{
	my ($case, $value_type, $dictionary, $tags) = @_;
	my $value = literal($case->{text}, $value_type);
	my $mask_literal = $value_type eq 'bytea' ? "'*'" : "U&'\\2588'";
	my @checks;

	push @checks,
	  [ 'contains', "acdat.contains($value, $dictionary)", $_ ]
	  foreach expected_contains($case);
	foreach my $policy (grep { defined $case->{$_} } @policies)
	{
		push @checks,
		  [
			$policy,
			matches_expression($value, $dictionary, $policy),
			show_matches($case, $case->{$policy}, $value_type, $tags)
		  ];
	}
	my @rewritten = (
		[ 'replace', "replace($value, $dictionary)", $case->{replaced} ],
		[ 'redact', "redact($value, $dictionary, 'chars', $mask_literal)",
			with_mask_of($case->{masked}, $value_type) ],
		[ 'redact, fixed', "redact($value, $dictionary, 'fixed', U&'\\2588')",
			defined $case->{merged} ? fixed_mask($case) : undef ]);
	push @checks,
	  map { [ $_->[0], hex_of("acdat.$_->[1]", $value_type), unpack('H*', $_->[2]) ] }
	  grep { defined $_->[2] } @rewritten;
	return @checks;
}

# ---- All of it, in one session ----

my $node = new_node('cases', conf => "acdat_bgw.max_dictionaries = 1000\n");
my @statements =
  ('CREATE TEMP TABLE machines (name text PRIMARY KEY, machine acdat.machine);');
my @all_checks;
my @without;

foreach my $case (read_cases())
{
	my @types = pattern_types($case);

	push @without, $case->{name} unless @types;
	foreach my $type (@types)
	{
		my %source = (dictionary => dictionary_name($case, $type));
		# a dictionary of bytes refuses values of type text
		my @value_types =
		  ('bytea', $type eq 'text' && is_text($case->{text}) ? 'text' : ());

		push @statements, publish_statement($case, $type);
		if (has_machine($case))
		{
			push @statements, compile_statement($case, $type);
			$source{machine} =
			  "(SELECT machine FROM machines WHERE name = $source{dictionary})";
		}
		foreach my $source (sort keys %source)
		{
			foreach my $value_type (@value_types)
			{
				foreach my $check (checks($case, $value_type, $source{$source},
						$source eq 'dictionary'))
				{
					my ($what, $expression, $expected) = @$check;

					push @statements, 'SELECT ' . @all_checks . ", $expression;";
					push @all_checks,
					  [ "$case->{name}: $what, $source of $type, value of $value_type",
						$expected ];
				}
			}
		}
	}
}

my ($stdout, $stderr) = ('', '');
$node->psql(
	'postgres', join("\n", @statements),
	stdout => \$stdout,
	stderr => \$stderr,
	on_error_stop => 0);
my %outcome = map { split /\|/, $_, 2 } split /\n/, $stdout;
my $errors = join "\n", grep { m/ERROR|FATAL|PANIC/ } split /\n/, $stderr;

foreach my $i (0 .. $#all_checks)
{
	my ($sentence, $expected) = @{ $all_checks[$i] };
	my $got = $outcome{$i};

	# ids that the table does not give do not matter
	$got =~ s/:-?\d+( \(tag of -?\d+\))?//g
	  if defined $got && $expected =~ m/\d-\d/ && $expected !~ m/:/;
	is($got, $expected, $sentence);
}
is($errors, '', 'no statement failed');
is("@without", 'half a character is no match when folding',
	'every case but one can be told in SQL');

done_testing();
