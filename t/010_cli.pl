# The acdat command: every subcommand on files and streams, line ends,
# formats of pattern files, exit codes, errors, bounded memory.
#
# ACDAT_BIN names the binary (default build/acdat).  ACDAT_DATA may name a
# folder that holds workloads.tar.xz and corpora.tar.xz, for a real workload.

use strict;
use warnings;

use Cwd qw(abs_path);
use Digest::MD5;
use File::Temp qw(tempdir);
use IO::Handle;
use Test::More;

my $bin = abs_path($ENV{ACDAT_BIN} // 'build/acdat');
plan skip_all => 'ACDAT_BIN does not name the acdat binary'
  unless defined $bin && -x $bin;

my $dir = tempdir(CLEANUP => 1);

sub spit
{
	my ($name, $content) = @_;

	open my $fh, '>:raw', "$dir/$name" or die "$name: $!";
	print $fh $content;
	close $fh or die "$name: $!";
	return "$dir/$name";
}

sub slurp
{
	my ($path) = @_;

	open my $fh, '<:raw', $path or die "$path: $!";
	local $/;
	return scalar <$fh>;
}

# Run the command with standard input; returns (exit code, stdout, stderr).
sub acdat
{
	my ($input, @args) = @_;
	my $in = spit('stdin', $input);
	my $pid = fork() // die "fork: $!";

	if ($pid == 0)
	{
		open STDIN, '<:raw', $in or die $!;
		open STDOUT, '>:raw', "$dir/stdout" or die $!;
		open STDERR, '>:raw', "$dir/stderr" or die $!;
		exec $bin, @args or die $!;
	}
	waitpid $pid, 0;
	return ($? & 127 ? "signal $?" : $? >> 8,
		slurp("$dir/stdout"), slurp("$dir/stderr"));
}

# Exit code and standard output at once.
sub acdat_is
{
	my ($args, $input, $code, $output, $what) = @_;
	my @got = acdat($input, @$args);

	is("$got[0]:$got[1]", "$code:$output", $what) or diag($got[2]);
	return;
}

# A failure: exit code 2, nothing on standard output, a reason.
sub acdat_fails
{
	my ($args, $input, $reason, $what) = @_;
	my @got = acdat($input, @$args);

	is("$got[0]:$got[1]", '2:', "$what: exit code 2, no output");
	like($got[2], $reason, "$what: the reason");
	return;
}

# Compile lines given as an array into an image.
sub image
{
	my ($name, $patterns, @options) = @_;
	my @got = acdat(join("\n", @$patterns) . "\n", 'compile', '-q', '-o',
		"$dir/$name", @options);

	is("@got[0,1,2]", '0  ', "compile $name");
	return "$dir/$name";
}

my $words = image('words', [ 'he', 'she', 'hers' ]);
my $tsv = image('tsv', [ "foo\tBAR", "foobar\t", "\\t\\N\t\\\\x\\n", "nul\t\\N" ],
	'-f', 'tsv');

# contains
acdat_is([ 'contains', $words ], "x ushers x\n", 0, '', 'contains: found');
acdat_is([ 'contains', $words ], "nothing\n", 1, '', 'contains: not found');
acdat_is([ 'contains', $words ], '', 1, '', 'contains: empty input');
acdat_is([ 'contains', '-v', $words ], "nothing\n", 0, '',
	'contains --invert: nothing found');
acdat_is(
	[ 'contains', '-l', $words ], "one\r\nshe\r\ntwo\nhe\nhe",
	0, "she\r\nhe\nhe", 'contains --lines prints lines as they are');
acdat_is(
	[ 'contains', '-lv', $words ], "one\r\nshe\r\ntwo\nhe",
	0, "one\r\ntwo\n", 'contains --lines --invert prints the others');
acdat_is([ 'contains', '-l', $words ], "one\ntwo\n", 1, '',
	'contains --lines: no such line');
acdat_is([ 'contains', '-lv', $words ], "he\n", 1, '',
	'contains --lines --invert: no such line');

my $one = spit('one.txt', "nothing here to find: x\n");
my $two = spit('two.txt', "she\nhers");
acdat_is([ 'contains', $words, $two, $one ], '', 0, '',
	'contains looks at all files');

# count
acdat_is([ 'count', $words ], "ushers\n", 0, "3\n", 'count: all overlapping');
acdat_is([ 'count', '-p', 'leftmost_longest', $words ], "ushers hers", 0,
	"2\n", 'count: leftmost-longest');
acdat_is([ 'count', $words, $one, $two ], '', 0,
	"1\t$one\n4\t$two\n", 'count: a line per file');
acdat_is([ 'count', image('ab', ["a\\nb"], '-f', 'tsv') ], "a\nb", 0, "1\n",
	'without --lines a match may span lines');
acdat_is([ 'count', '-l', "$dir/ab" ], "a\nb", 0, "0\n",
	'with --lines it may not');

# matches
acdat_is(
	[ 'matches', $words ], "\xc3\xa4she", 0,
	"-\t\\N\t3\t3\t2\t3\t2\t0\t\\N\tshe\n-\t\\N\t4\t2\t3\t2\t1\t0\t\\N\the\n",
	'matches: tsv, positions in bytes and characters from 1');
acdat_is(
	[ 'matches', '-l', '-f', 'json', $words ], "x\r\n\xc3\xa4 he\r\n", 0,
	'{"file":"-","line":2,"byte_pos":4,"byte_len":2,"char_pos":3,'
	  . '"char_len":2,"id":1,"priority":0,"tag":null,"text":"he"}' . "\n",
	'matches: json, positions within the line');
acdat_is([ 'matches', $words ], 'xyz', 1, '', 'matches: none');

my $attributes = spit('attributes.csv', <<"CSV");
pattern,id,priority,tag,allow,comment
"q""uote",-5,7,"t,1",f,x
"two
lines",6,,,,
plain,,,"",no,
plainly,,,,yes,
CSV
my @got = acdat('', 'compile', '--header', '-o', "$dir/attributes", $attributes);
is($got[0], 0, 'compile csv with a header');
like($got[2], qr/4 patterns/, 'compile reports the number of patterns');
acdat_is(
	[ 'matches', '-f', 'json', "$dir/attributes" ], "q\"uote\ntwo\nlines plainly plain", 0,
	join("\n",
		'{"file":"-","line":null,"byte_pos":1,"byte_len":6,"char_pos":1,"char_len":6,"id":-5,"priority":7,"tag":"t,1","text":"q\"uote"}',
		'{"file":"-","line":null,"byte_pos":8,"byte_len":9,"char_pos":8,"char_len":9,"id":6,"priority":0,"tag":null,"text":"two\u000alines"}',
		'{"file":"-","line":null,"byte_pos":26,"byte_len":5,"char_pos":26,"char_len":5,"id":3,"priority":0,"tag":"","text":"plain"}',
		''),
	'attributes from csv; an exception hides what lies in it');
my $bytes = image('bytes', [ "\xff\xe4" ], '--encoding=bytes');
acdat_is([ 'matches', $bytes ], "\xc3\xff\xe4", 0,
	"-\t\\N\t2\t2\t\\N\t\\N\t1\t0\t\\N\t\xff\xe4\n",
	'matches in bytes: no characters');
acdat_is(
	[ 'matches', '-f', 'json', $bytes ], "\xff\xe4", 0,
	'{"file":"-","line":null,"byte_pos":1,"byte_len":2,"char_pos":null,'
	  . '"char_len":null,"id":1,"priority":0,"tag":null,"text":"\ufffd\ufffd"}'
	  . "\n",
	'json stays valid whatever the bytes');

# replace
acdat_is([ 'replace', $tsv ], 'foofoobarfoo nul', 0, 'BARBAR nul',
	'replace: deletes for an empty replacement, keeps for NULL');
acdat_is([ 'replace', $tsv ], "a\tNb", 0, "a\\x\nb", 'escapes of tsv');
acdat_is([ 'replace', '-l', $tsv ], "foo\r\n\nx\r\r\nfoo\r", 0,
	"BAR\r\n\nx\r\r\nBAR\r", 'replace --lines keeps all line ends');
acdat_is([ 'replace', '-p', 'leftmost_first',
		image('first', [ "ab\t1\t1\t5", "abc\t2\t2\t1" ], '-f', 'tsv') ],
	'abc', 0, '1c', 'replace: leftmost-first');
acdat_is([ 'replace', "$dir/first" ], 'abc', 0, '2',
	'replace: leftmost-longest by default');
acdat_is([ 'replace', '-o', $two, $words, $two ], '', 0, '',
	'the output may be the input');
is(slurp($two), "she\nhers", 'and has the content then');

# redact
my $pii = image('pii', [ 'abcd', 'cdef', "e\xcc\x81" ]);
acdat_is([ 'redact', $pii ], "xabcdef.e\xcc\x81e", 0, 'x******.*e',
	'redact: one mask per character as the user sees it');
acdat_is([ 'redact', '-s', 'fixed', $pii ], 'xabcdef abcd', 0,
	'x[REDACTED] [REDACTED]', 'redact: overlapping matches are one');
acdat_is([ 'redact', '-m', "\xe2\x96\x88", $pii ], 'abcd', 0,
	"\xe2\x96\x88" x 4, 'redact: another mask');
acdat_is([ 'redact', '-s', 'fixed', '-m', '', $pii ], '<abcd>', 0, '<>',
	'redact: an empty text');
acdat_fails([ 'redact', '-m', 'ab', $pii ], 'abcd', qr/one character/,
	'redact: a mask of two characters');

# options of a dictionary
my $folding = image('folding', [ "stra\xc3\x9fe" ], '--case=unicode',
	'--normalize=nfkc', '--boundary=word', '--ignore=*');
acdat_is([ 'count', $folding ],
	"STRA\xe1\xba\x9eE, S*T*R*A*\xc3\x9f*E stra\xc3\x9fen", 0, "2\n",
	'case, normalization, boundary and ignored characters');
my ($code, $info) = acdat('', 'info', $folding);
like($info, qr/^patterns: 1$/m, 'info: patterns');
like($info, qr/^case: unicode\nnormalize: nfkc\nboundary: word\nignore: \*$/m,
	'info: options');

# pattern files
is((acdat("\xef\xbb\xbfab\r\ncd\r\n", 'compile', '-q', '-o', "$dir/crlf"))[0],
	0, 'a byte order mark and CRLF line ends');
acdat_is([ 'count', "$dir/crlf" ], 'ab cd', 0, "2\n", 'are no part of patterns');
acdat_fails([ 'compile', '-o', "$dir/none" ], "a\n\nb\n", qr/line 2: .*empty/,
	'an empty pattern');
ok(!-e "$dir/none", 'a failed compilation leaves no file');
@got = acdat("a \n\n b\nc\n", 'compile', '--trim', '--skip-empty', '-o',
	"$dir/trimmed");
is($got[0], 0, 'compile --trim --skip-empty');
like($got[2], qr/1 empty patterns skipped\n.*2 patterns trimmed/,
	'and what that did is reported');
acdat_is([ 'count', "$dir/trimmed" ], 'abc', 0, "3\n", 'trimmed patterns');
like((acdat("a \n", 'compile', '-o', "$dir/blank"))[2], qr/blank.*--trim/,
	'blanks at the ends are pointed out');
like((acdat("a\na\n", 'compile', '-o', "$dir/twice"))[2],
	qr/1 patterns equal/, 'repeated patterns are pointed out');
acdat_is([ 'count', image('named', [ "x\tab\ty" ], '-f', 'tsv',
			'--columns=-,pattern,tag') ], 'ab x', 0, "1\n", 'columns by name');
acdat_fails([ 'compile', '-f', 'tsv', '-o', "$dir/none" ], "a\tb\tc\n",
	qr/line 1: invalid id/, 'an id that is no number');
acdat_fails([ 'compile', '-f', 'csv', '-o', "$dir/none" ], "a\n\"b\n",
	qr/line 2: .*quoted/, 'a quoted field without end');
acdat_fails([ 'compile', '--columns=pattern,nonsense', '-f', 'tsv', '-o',
		"$dir/none" ], "a\n", qr/no column "nonsense"/, 'an unknown column');
acdat_fails([ 'compile', '-o', "$dir/none", '--max-pattern-bytes=3' ],
	"abc\nabcd\n", qr/line 2/, 'an over-long pattern');

# errors
acdat_fails([], '', qr/command is missing/, 'no command');
acdat_fails(['frobnicate'], '', qr/no command "frobnicate"/, 'no such command');
acdat_fails([ 'contains' ], '', qr/usage/, 'no image');
acdat_fails([ 'contains', "$dir/absent" ], '', qr/could not open/, 'no file');
acdat_fails([ 'contains', $words, "$dir/absent" ], '', qr/could not open/,
	'no input file');
acdat_fails([ 'contains', '--mask=x', $words ], '', qr/does not take/,
	'an option of another command');
acdat_fails([ 'count', '-p', 'best', $words ], '', qr/invalid value "best"/,
	'an unknown policy');
acdat_fails([ 'replace', '-p', 'all_overlapping', $words ], '', qr/overlapping/,
	'replace with overlapping matches');
acdat_fails([ 'compile', '--case=unicode', '--encoding=bytes', '-o',
		"$dir/none" ], "a\n", qr/./, 'options that contradict each other');
acdat_fails([ 'contains', spit('text', 'no image at all ' x 100) ], '',
	qr/could not use/, 'a file that is no image');
my $bytes_of_image = slurp($words);
substr($bytes_of_image, length($bytes_of_image) / 2, 1) ^= "\x01";
acdat_fails([ 'contains', spit('broken', $bytes_of_image) ], '',
	qr/could not use/, 'an image with a changed bit');
acdat_fails([ 'contains', spit('short', substr(slurp($words), 0, -1)) ], '',
	qr/could not use/, 'a truncated image');
my $old = slurp($words);
substr($old, 8, 1) = "\x01";
acdat_fails([ @$_, spit('old', $old) ], '', qr/"[^"]*" was compiled by another version of acdat; compile it again/,
	"an image of another layout version: @$_")
  foreach [ 'contains' ], [ 'info' ], [ 'info', '--trusted' ];
acdat_fails([ 'contains', $dir ], '', qr/not a regular file/, 'a folder as an image');
my $empty = spit('empty', '');
acdat_fails([ 'contains', $empty ], '', qr/is empty/, 'an empty file as an image');
acdat_fails([ 'count', $words, $dir ], '', qr/could not read.*directory/, 'a folder as input');
acdat_fails([ 'compile', '-o', "$dir/none", $dir ], '', qr/could not read.*directory/,
	'a folder as patterns');
acdat_fails([ 'compile', '-o', $dir ], "a\n", qr/could not write/, 'a folder as output');
my $list = spit('list', "a\n");
acdat_fails([ 'compile', '-o', $list, $list ], '', qr/would replace the patterns/,
	'an image in the place of its patterns');
is(slurp($list), "a\n", 'the patterns are still there');
acdat_fails([ 'compile', '-o', "$dir/absent/none" ], "a\n", qr/could not write/,
	'output into no folder');
acdat_fails([ 'compile', '-o', "$dir/none", "--max-pattern-bytes=$_" ], "a\n",
	qr/invalid number "\Q$_\E"/, "$_ bytes")
  foreach 0, -1, '1k', '9' x 40;
acdat_fails([ 'compile', '-f', 'tsv', '--columns=pattern,id', '-o', "$dir/none" ],
	"a\t" . '9' x 20 . "\n", qr/line 1: invalid id/, 'an id that is too large');
acdat_fails([ 'compile', '--boundary=words', '-o', "$dir/none" ], "a\n",
	qr/invalid value "words" for --boundary/, 'an unknown word');
acdat_fails([ 'compile', '--ignore=*', '-o', "$dir/none" ], "a\n**\n",
	qr/line 2: .*ignored/, 'a pattern of ignored characters');
acdat_fails([ 'compile', "--ignore=\xff", '-o', "$dir/none" ], "a\n",
	qr/--ignore.*UTF-8/, 'ignored characters that are none');
acdat_fails([ 'count', '--nonsense', $words ], '', qr/nonsense.*see acdat --help/s,
	'an unknown option');
acdat_is([ 'count', $words, $empty ], '', 0, "0\n", 'an empty file as input');
acdat_is([ 'matches', image('nul', ["a\0b"]) ], "\0a\0b\0", 0,
	"-\t\\N\t2\t3\t2\t3\t1\t0\t\\N\ta\0b\n", 'NUL is a byte like others');
is((acdat('', '--help'))[0], 0, '--help');
like((acdat('', 'count', '--help'))[1], qr/^Usage: acdat/, 'COMMAND --help');
like((acdat('', '--version'))[1], qr/^acdat \d/, '--version');

# The manual page has all that --help has, and nothing else.
{
	my $help = (acdat('', '--help'))[1];
	my $manual = slurp('src/cli/acdat.1');

	$manual =~ s/\\-/-/g;
	my %shown = map { $_ => 1 } $help =~ m/^ +(?:-\w, | {4})(--[a-z-]+)/mg;
	my %described = map { $_ => 1 } $manual =~ m/^\.BR? .*?(--[a-z-]+)"? ?(?:=.*)?$/mg;
	my %short = map { $_ => 1 } $help =~ m/^  (-\w), /mg;
	my %short_described = map { $_ => 1 } $manual =~ m/^\.BR (-\w) ", "/mg;
	my @commands = $help =~ m/^  ([a-z]+) .*(?:IMAGE|FILE)/mg;

	ok(%shown > 15 && @commands == 7, 'help lists commands and options');
	is_deeply([ sort keys %described ], [ sort keys %shown ],
		'the manual page describes the options that help shows');
	is_deeply([ sort keys %short_described ], [ sort keys %short ], 'and their short forms');
	is_deeply([ grep { $manual !~ m/^\.B $_$/m } @commands ], [], 'and all commands');
}

# Streams that are closed, and devices that are full.
is(system('bash', '-c', "'$bin' count '$words' <&- >'$dir/stdout' 2>'$dir/stderr'") >> 8,
	2, 'closed standard input');
like(slurp("$dir/stderr"), qr/could not read "standard input"/, 'and why');
is(system('bash', '-c', "'$bin' replace '$words' '$two' >&- 2>'$dir/stderr'") >> 8,
	2, 'closed standard output');
like(slurp("$dir/stderr"), qr/could not write "standard output"/, 'and why');
is(system('bash', '-c', "'$bin' compile -o '$dir/silent' '$one' 2>&-") >> 8, 0,
	'closed standard error');
is(slurp("$dir/silent"), slurp(image('spoken', [ slurp($one) =~ s/\n//r ])),
	'gets nothing into the output');
SKIP:
{
	skip 'there is no /dev/full', 6 unless -c '/dev/full';
	foreach my $command ("count '$words' '$two'", "matches '$words' '$two'",
		"replace '$words' '$two'", "info '$words'", '--help', '--version')
	{
		is(system('bash', '-c', "'$bin' $command >/dev/full 2>/dev/null") >> 8, 2,
			"a full disk: $command");
	}
}

# an image replaced while it is in use: the file is new, not changed
my $inode = (stat $words)[1];
image('words', ['other']);
isnt((stat $words)[1], $inode, 'compile replaces an image, never rewrites it');
is((stat $words)[2] & 07777, 0666 & ~umask, 'with the usual permissions');

# Whoever writes into a pipe bit by bit sees output before the end of input.
{
	pipe(my $from_child, my $child_out) or die $!;
	pipe(my $child_in, my $to_child) or die $!;
	my $pid = fork() // die $!;
	if ($pid == 0)
	{
		open STDIN, '<&', $child_in or die $!;
		open STDOUT, '>&', $child_out or die $!;
		close $to_child;
		exec $bin, 'replace', '-l', $tsv or die $!;
	}
	close $child_in;
	close $child_out;
	$to_child->autoflush(1);
	local $SIG{ALRM} = sub { die "no output\n" };
	alarm 30;
	print $to_child "a foo\n";
	is(scalar(<$from_child>), "a BAR\n", 'a line in a pipe is answered at once');
	alarm 0;
	close $to_child;
	waitpid $pid, 0;
	is($?, 0, 'and the command ends with its input');
}

# Bounded memory: long lines, long matches, more input than memory allowed.
SKIP:
{
	my $limited = "ulimit -v 40000; exec '$bin'";

	skip 'the binary needs more address space than that anyway', 5
	  unless system("bash -c \"$limited --version\" >/dev/null 2>&1") == 0;
	my $zeros = 'head -c 200000000 /dev/zero';

	is(`$zeros | tr '\\0' x | bash -c "$limited count $tsv"`, "0\n",
		'200 MB without a line end, whole');
	is(`$zeros | tr '\\0' x | bash -c "$limited count -l $tsv"`, "0\n",
		'and as one line');
	is(`(printf foo; $zeros | tr '\\0' x; printf foo) | bash -c "$limited replace $tsv" | cksum`,
		`(printf BAR; $zeros | tr '\\0' x; printf BAR) | cksum`,
		'matches at both ends are replaced');
	is(`$zeros | tr '\\0' '\\n' | head -c 20000000 | bash -c "$limited replace -l $tsv" | cksum`,
		`$zeros | tr '\\0' '\\n' | head -c 20000000 | cksum`,
		'20 million empty lines');
	is(system("$zeros | bash -c \"$limited contains -l $tsv\" 2>/dev/null") >> 8,
		2, 'contains --lines refuses a line without end');
}

# How much memory the command has had once it has read so many MiB of bytes.
sub peak_kb
{
	my ($bytes, $mib, @args) = @_;

	pipe(my $from, my $to) or die $!;
	my $pid = fork() // die $!;
	if ($pid == 0)
	{
		close $to;
		open STDIN, '<&', $from or die $!;
		open STDOUT, '>', '/dev/null' or die $!;
		exec $bin, @args or die $!;
	}
	close $from;
	my $block = $bytes x (1048576 / length $bytes);
	syswrite($to, $block) == length $block or die $! foreach 1 .. $mib;
	my ($peak) = slurp("/proc/$pid/status") =~ m/^VmHWM:\s*(\d+) kB/m;
	close $to;
	waitpid $pid, 0;
	return $peak;
}

SKIP:
{
	my $dense = image('dense', [ "xx\ty" ], '-f', 'tsv');
	my $ignoring = image('ignoring', ['ab'], '--ignore=*', '--normalize=nfkc');

	skip 'there is no /proc', 9 unless -r "/proc/$$/status";
	foreach my $case ([ 200, 'count', $words ], [ 200, 'count', '-l', $words ],
		[ 5, 'matches', '-l', $dense ], [ 50, 'replace', '-l', $dense ],
		[ 50, 'redact', $dense ], [ 50, 'redact', '-l', '-s', 'fixed', $dense ])
	{
		my ($mib, @args) = @$case;

		cmp_ok(peak_kb('x', $mib, @args), '<', 16384,
			"memory for $mib MiB in one line: @args[0 .. $#args - 1]");
	}
	cmp_ok(peak_kb($_, 10, 'redact', '-l', $ignoring), '<', 16384,
		"memory with ignored characters: $_")
	  foreach '*', 'a***', "\xcc\x81";
}

# What a command shows on a terminal that is fed the same until it has shown
# something or got so many pieces; and how many it was.
sub on_terminal
{
	my ($command, $piece, $most) = @_;
	my $fifo = "$dir/fifo";
	my $pieces = 0;
	my $shown = '';

	-p $fifo || system('mkfifo', $fifo) == 0 or die 'mkfifo failed';
	my $pid = open my $terminal, '-|', 'script', '-qefc', "$command '$fifo'", '/dev/null'
	  or die $!;
	open my $to, '>', $fifo or die $!;
	$terminal->blocking(0);
	local $SIG{ALRM} = sub { die "no progress\n" };
	alarm 60;
	while ($shown !~ m/\d/ && ($pieces < $most || !$most))
	{
		syswrite $to, $piece;
		sysread $terminal, $shown, 65536, length $shown;
		$pieces++;
	}
	alarm 0;
	close $to;
	$terminal->blocking(1);
	1 while sysread $terminal, $shown, 65536, length $shown;
	close $terminal;
	return ($shown, $pieces);
}

# Progress is shown on a terminal, if it takes a while.
SKIP:
{
	skip 'there is no script command', 3
	  unless `script --version 2>/dev/null` =~ m/util-linux/;
	my $gone = qr/\r\e\[K/;

	my ($shown, $pieces) = on_terminal("'$bin' count '$words'", 'x' x 1048576, 0);
	like($shown, qr/^\r\S*fifo: \d+ MiB, \d+ MiB\/s.*${gone}0\r?\n$/s,
		'progress on a terminal, and nothing is left of it');
	($shown) = on_terminal("'$bin' count -q '$words'", 'x' x 1048576, 2 * $pieces);
	is($shown =~ s/\r//gr, "0\n", 'none with --quiet');
	($shown) = on_terminal("'$bin' compile -o '$dir/slow'", "x\n" x 1000, 0);
	like($shown, qr/^\rcompiling: \d+ s.*${gone}acdat: \d+ patterns/s, 'progress of compile');
}

# Characters are counted right where buffers end inside them.
{
	my $text = ("\xe4\xb8\xad" x 99_991 . 'foo') x 3;
	my ($status, $out) = acdat($text, 'matches', $tsv);

	is(join(',', map { (split /\t/)[4] } split /\n/, $out),
		'99992,199986,299980', 'character positions across buffers');
}

SKIP:
{
	my $data = $ENV{ACDAT_DATA};

	skip 'ACDAT_DATA does not name a folder with the workloads', 4
	  unless defined $data && -e "$data/workloads.tar.xz"
	  && -e "$data/corpora.tar.xz";
	system('tar', '-xJf', "$data/workloads.tar.xz", '-C', $dir) == 0
	  or die 'tar failed';
	system('tar', '-xJf', "$data/corpora.tar.xz", '-C', $dir,
		'corpora/dict/vonng_ac_contest_1114.txt') == 0
	  or die 'tar failed';
	my $text = "$dir/workloads/d1.txt";

	is((acdat('', 'compile', '-q', '-f', 'tsv', '-o', "$dir/d1",
				"$dir/corpora/dict/vonng_ac_contest_1114.txt"))[0],
		0, 'the rules compile');
	for my $mode ([], ['-l'])
	{
		acdat('', 'replace', @$mode, '-o', "$dir/d1.out", "$dir/d1", $text);
		open my $fh, '<:raw', "$dir/d1.out" or die $!;
		is(Digest::MD5->new->addfile($fh)->hexdigest,
			'f43542e2d650d970f6aa15ab2583f803',
			"a million lines, replaced @$mode");
	}
	acdat_is([ 'count', "$dir/d1", $text ], '', 0, "58211\n",
		'and their matches counted');
}

done_testing();
