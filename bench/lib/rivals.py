"""Scenarios of what else one could use, on the same rows.

A rival is timed only after its answer has been found equal.  One that does
not finish within a limit is stopped and shown as such; one that is not
installed is skipped aloud (bench/prepare installs them for --with-rivals).
"""
import os
import shutil
import subprocess
import time

import sql
from cluster import Session, SqlError
from data import read_lines
from measure import Scenario

PERL = r"""
CREATE FUNCTION perl_contains(text) RETURNS boolean LANGUAGE plperl IMMUTABLE STRICT PARALLEL SAFE AS $perl$
	unless ($_SHARED{rule}) {
		my $rows = spi_exec_query('SELECT pattern FROM {terms}')->{rows};
		my $any = join '|', map { quotemeta $_->{pattern} } @$rows;
		$_SHARED{rule} = qr/$any/;
	}
	return $_[0] =~ $_SHARED{rule} ? 1 : 0;
$perl$"""

PYTHON = r"""
CREATE FUNCTION python_contains(line text) RETURNS boolean LANGUAGE plpython3u IMMUTABLE STRICT PARALLEL SAFE AS $python$
if 'machine' not in SD:
	import ahocorasick
	SD['machine'] = ahocorasick.Automaton()
	for row in plpy.execute('SELECT pattern FROM {terms}'):
		SD['machine'].add_word(row['pattern'], 1)
	SD['machine'].make_automaton()
return next(SD['machine'].iter(line), None) is not None
$python$"""


class Contest:
    """Rivals on one set of rows and terms, each timed in turn, several rounds."""

    def __init__(self, bench, result, limit):
        self.bench = bench
        self.result = result
        self.limit = limit
        self.rivals = {}
        self.expected = None

    def add(self, name, run):
        """run() gives (seconds, answer); the first one added is the measure."""
        try:
            seconds, answer = run()     # a first time, for caches and compiled expressions
        except (SqlError, subprocess.SubprocessError) as reason:
            if 'statement timeout' in str(reason) or isinstance(reason, subprocess.TimeoutExpired):
                self.result.notes.append('%s: stopped after %d s' % (name, self.limit))
                own = self.result.samples['now']['acdat']
                self.result.ratios[name + '_to_acdat_more_than'] = [self.limit / min(own)]
            else:
                self.result.notes.append('%s: failed, %s' % (name, str(reason).split(' HINT')[0].split(' CONTEXT')[0][:200]))
            return
        if self.expected is None:
            self.expected = answer
            self.result.add('now', name, seconds)
        if answer != self.expected:
            raise AssertionError('%s answers %s, not %s' % (name, answer, self.expected))
        # a slow rival is not asked again
        slow = 1 if self.bench.quick else 5
        self.rivals[name] = run if seconds < slow else (lambda: (seconds, answer))

    def race(self):
        self.result.samples['now'].pop('acdat', None)
        for _ in range(self.bench.rounds):
            for name, run in self.rivals.items():
                self.result.add('now', name, run()[0])
        for name in self.rivals:
            if name != 'acdat':
                self.result.ratio(name + '_to_acdat', name, 'acdat')


def stream(build, table, path, limit):
    """psql COPY into grep -F: the time of an export and a tool outside."""
    def run():
        begin = time.monotonic()
        copy = subprocess.Popen([build.program('psql'), '-X', '-q', *build.connection(), '-c',
                                 'COPY (SELECT line FROM %s) TO STDOUT' % table], stdout=subprocess.PIPE)
        try:
            found = subprocess.run(['grep', '-c', '-F', '-f', path], stdin=copy.stdout, capture_output=True, text=True,
                                   timeout=limit, env={**os.environ, 'LC_ALL': 'C'})
        finally:
            copy.stdout.close()
            copy.terminate()
            copy.wait()
        return time.monotonic() - begin, found.stdout.strip()
    return run


def in_server(contest, session, build, table, terms, path):
    """All the rivals that run as one statement, or read what one exports."""
    def ask(statement):
        return lambda: session.time(statement)
    count = 'SELECT count(*) FROM %s WHERE ' % table
    words = [word.decode() for word in read_lines(path)]
    pattern = '|'.join(''.join(c if c.isalnum() or ord(c) > 127 else '\\' + c for c in word) for word in words)
    likes = ', '.join(sql.quote('%' + sql.like_escape(word) + '%') for word in words)
    contest.add('acdat', ask(count + "acdat.contains(line, '%s')" % terms))
    contest.add('grep_F_of_an_export', stream(build, table, path, contest.limit))
    for name, language, body in (('plperl', 'plperl', PERL), ('plpython_ahocorasick', 'plpython3u', PYTHON)):
        try:
            session.ask('CREATE EXTENSION IF NOT EXISTS ' + language)
            session.ask('DROP FUNCTION IF EXISTS %s_contains' % name.split('_')[0].removeprefix('pl'))
            session.ask(body.replace('{terms}', terms).strip())
        except SqlError as reason:
            contest.result.notes.append('%s: skipped, %s (see --with-rivals)' % (name, str(reason)[:160]))
            continue
        contest.add(name, ask(count + '%s_contains(line)' % name.split('_')[0].removeprefix('pl')))
    contest.add('like_any', ask(count + 'line LIKE ANY (ARRAY[%s])' % likes))
    contest.add('strpos_loop', ask(count + 'EXISTS (SELECT FROM %s t WHERE strpos(line, t.pattern) > 0)' % terms))
    contest.add('regex_alternation', ask(count + 'line ~ ' + sql.quote(pattern)))
    trigram(contest, session, table, terms)


def trigram(contest, session, table, terms):
    """An index on the rows, and a loop over the terms; building it is not counted."""
    try:
        session.ask('CREATE EXTENSION IF NOT EXISTS pg_trgm')
        session.ask('CREATE INDEX IF NOT EXISTS %s_trgm ON %s USING gin (line gin_trgm_ops)' % (table, table))
    except SqlError as reason:
        contest.result.notes.append('pg_trgm: skipped, %s' % str(reason)[:160])
        return
    session.ask('SET enable_seqscan = off')
    escaped = r"'%' || regexp_replace(t.pattern, '([\\%_])', '\\\1', 'g') || '%'"
    contest.add('pg_trgm_index', lambda: session.time(
        'SELECT count(DISTINCT l.ctid) FROM %s t CROSS JOIN LATERAL (SELECT ctid FROM %s WHERE line LIKE %s) l'
        % (terms, table, escaped)))
    session.ask('SET enable_seqscan = on')


def mariadb(contest, build, bench, rows, path, folder):
    """REGEXP in a private MariaDB server of the same machine."""
    if shutil.which('mariadbd') is None:
        contest.result.notes.append('mariadb_regexp: skipped, not installed (see --with-rivals)')
        return None
    data = os.path.join(folder, 'mariadb')
    os.makedirs(data)
    shutil.chown(data, build.user)
    socket = os.path.join(data, 's')
    build.as_user('mariadb-install-db', '--no-defaults', '--datadir=' + data, '--auth-root-authentication-method=normal',
                  '--skip-test-db', stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    switch = ['runuser', '-u', build.user, '--'] if os.getuid() == 0 else []
    server = subprocess.Popen([*switch, shutil.which('mariadbd'), '--no-defaults', '--datadir=' + data, '--socket=' + socket,
                               '--skip-networking', '--local-infile=1', '--innodb-buffer-pool-size=1G',
                               '--character-set-server=utf8mb4', '--collation-server=utf8mb4_bin',
                               '--max-allowed-packet=256M', '--pid-file=' + os.path.join(data, 'pid')],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    client = [*switch, 'mariadb', '--no-defaults', '--socket=' + socket, '-u', 'root', '--local-infile=1', '--max-allowed-packet=256M',
              '--default-character-set=utf8mb4', '-N', '-B']

    def ask(statement, limit=300):
        return subprocess.run(client, input=statement, capture_output=True, text=True, check=True, timeout=limit).stdout.strip()
    deadline = time.monotonic() + 30
    while True:
        try:
            ask('SELECT 1')
            break
        except subprocess.CalledProcessError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
    ask("CREATE DATABASE bench; CREATE TABLE bench.`lines` (id int PRIMARY KEY, line text); "
        "LOAD DATA LOCAL INFILE '%s' INTO TABLE bench.`lines`" % rows)
    words = [word.decode() for word in read_lines(path)]
    pattern = '|'.join(''.join(c if c.isalnum() or ord(c) > 127 else '\\' + c for c in word) for word in words)
    statement = 'SELECT COUNT(*) FROM bench.`lines` WHERE line REGEXP ' + sql.quote(pattern).replace('\\', '\\\\')

    def run():
        begin = time.monotonic()
        answer = ask('SET max_statement_time = %d; ' % contest.limit + statement, contest.limit + 5)
        return time.monotonic() - begin, answer
    try:
        contest.add('mariadb_regexp', run)
    except subprocess.CalledProcessError as reason:
        contest.result.notes.append('MariaDB: stopped, %s' % reason.stderr[:160])
    return server


def contest_of(terms_of, name):
    def run(bench, result):
        build = bench.builds[0]
        sql.setup_rows(bench, build)
        limit = 15 if bench.quick else 30
        rows = min(bench.rows, 5000 if bench.quick else 50000)
        path = terms_of(bench)
        table = 'rival_lines_' + name
        contest = Contest(bench, result, limit)
        server = None
        with Session(build) as session:
            session.ask('CREATE TABLE %s AS SELECT id, line FROM lines WHERE id <= %d' % (table, rows))
            session.ask('VACUUM (FREEZE, ANALYZE) ' + table)
            if name != 'terms':
                sql.load_terms(session, name, path)
            session.ask("SELECT acdat.publish('%s', 'SELECT pattern FROM %s')" % (name, name))
            session.ask('SET max_parallel_workers_per_gather = 0')
            session.ask("SET statement_timeout = '%ds'" % limit)
            in_server(contest, session, build, table, name, path)
            exported = os.path.join(build.scratch, table + '.copy')
            session.raw("\\copy %s to '%s'" % (table, exported))
            try:
                if name == 'terms':
                    server = mariadb(contest, build, bench, exported, path, build.scratch)
                contest.race()
            finally:
                if server is not None:
                    server.terminate()
                    server.wait()
        result.counts['rows'] = rows
        result.counts['rows_with_a_term'] = int(contest.expected)
        result.counts['terms'] = len(read_lines(path))
        result.counts['limit_seconds'] = limit
    return run


def words_contest(bench, result):
    """Whole words in prose of plain words: what full-text search answers, too."""
    build = bench.builds[0]
    build.start()
    limit = 15 if bench.quick else 30
    rows = 5000 if bench.quick else 50000
    contest = Contest(bench, result, limit)

    def make(session):
        session.ask('CREATE TABLE prose (id integer, line text)')
        session.copy('prose', bench.data.prose(rows))
        session.ask('CREATE TABLE prose_words (pattern text)')
        session.copy('prose_words', bench.data.prose_words(1000))
        session.ask("ALTER TABLE prose ADD words tsvector GENERATED ALWAYS AS (to_tsvector('simple', line)) STORED")
        session.ask('CREATE INDEX ON prose USING gin (words)')
        session.ask('VACUUM (FREEZE, ANALYZE) prose')
        session.ask("SELECT acdat.publish('prose', 'SELECT pattern FROM prose_words', boundary => 'word')")
    build.once('prose', make)
    count = 'SELECT count(*) FROM prose WHERE '
    with Session(build) as session:
        session.ask('SET max_parallel_workers_per_gather = 0')
        session.ask("SET statement_timeout = '%ds'" % limit)
        words = session.ask('SELECT pattern FROM prose_words').split('\n')
        any_word = "'%s'::tsquery" % ' | '.join(words)

        def ask(name, condition):
            contest.add(name, lambda: session.time(count + condition))
        ask('acdat', "acdat.contains(line, 'prose')")
        ask('tsvector_index', 'words @@ ' + any_word)
        ask('tsvector_of_the_row', "to_tsvector('simple', line) @@ " + any_word)
        ask('array_overlap', "string_to_array(line, ' ') && ARRAY(SELECT pattern FROM prose_words)")
        ask('regex_alternation', "line ~ '\\m(%s)\\M'" % '|'.join(words))
        contest.race()
    result.counts['rows'] = rows
    result.counts['rows_with_a_word'] = int(contest.expected)
    result.counts['words'] = len(words)
    result.counts['limit_seconds'] = limit
    result.notes.append('the column of tsvector, its index and their upkeep are not counted')


SCENARIOS = [
    Scenario('rivals-words', '1,000 whole words: full-text search on the same rows', words_contest),
    Scenario('rivals-d1', '1,114 terms: what else finds the same rows', contest_of(lambda b: b.data.shape('d1')[0], 'terms')),
    Scenario('rivals-d5', '100,000 terms: what else finds the same rows', contest_of(lambda b: b.data.shape('d5')[0], 'many'),
             quick=False),
]
