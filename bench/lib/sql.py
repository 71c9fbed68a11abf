"""Scenarios of one session: short rows, wide rows, workers, many short calls."""
import os

import micro
from cluster import Session
from data import read_lines
from measure import Scenario, interleave


def quote(text):
    return "'" + text.replace("'", "''") + "'"


def like_escape(text):
    for char in '\\%_':
        text = text.replace(char, '\\' + char)
    return text


def load_terms(session, table, path):
    session.ask('CREATE TABLE %s (id bigint GENERATED ALWAYS AS IDENTITY, pattern text)' % table)
    session.raw("\\copy %s (pattern) from program 'sed s/\\\\\\\\/\\\\\\\\\\\\\\\\/g %s'" % (table, path))


def setup_rows(bench, build):
    """Table lines, dictionary d1 and its machine value."""
    def make(session):
        session.ask('CREATE TABLE lines (id integer, line text)')
        session.copy('lines', bench.data.rows(bench.rows))
        session.ask('ALTER TABLE lines ADD PRIMARY KEY (id)')
        load_terms(session, 'terms', bench.data.shape('d1')[0])
        session.ask("SELECT acdat.publish('d1', $$SELECT pattern, id, '<' || id || '>' AS replacement FROM terms$$)")
        session.ask('CREATE TABLE machines (name text, machine acdat.machine)')
        session.ask("INSERT INTO machines SELECT 'd1', acdat.compile(pattern, id, 0, '<' || id || '>') FROM terms")
        session.ask('VACUUM (FREEZE, ANALYZE) lines')
        session.ask('CHECKPOINT')
    build.start()
    build.once('rows', make)


def setup_d5(bench, build):
    def make(session):
        load_terms(session, 'han_words', bench.data.shape('d5')[0])
        session.ask("SELECT acdat.publish('d5', 'SELECT pattern, id FROM han_words')")
    build.start()
    build.once('d5', make)


def some_terms(bench, count):
    terms = [term.decode() for term in read_lines(bench.data.shape('d1')[0])]
    return terms[::max(1, len(terms) // count)][:count]


class Statements:
    """Timed statements in sessions that stay open, one per build."""

    def __init__(self, bench, one_process=True):
        self.cpu = bench.cpu and one_process
        self.sessions = {build.label: Session(build) for build in bench.builds}
        self.answers = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for session in self.sessions.values():
            session.close()

    def all(self, sql):
        for session in self.sessions.values():
            session.ask(sql)

    def variant(self, name, sql, before=None):
        """A function for interleave(); the answer must stay the same."""
        def run(build):
            session = self.sessions[build.label]
            if before:
                session.ask(before)
            seconds, answer = (session.time_cpu if self.cpu else session.time)(sql)
            if self.answers.setdefault(name, answer) != answer:
                raise AssertionError('%s: the answer changed from %s to %s' % (name, self.answers[name], answer))
            return seconds
        return run


# What is timed on short rows.  octet_length() is the cheapest function call.
STATEMENTS = {
    'raw': 'SELECT count(*) FROM lines WHERE octet_length(line) < 0',
    'like': "SELECT count(*) FROM lines WHERE line LIKE {like}",
    'contains': "SELECT count(*) FROM lines WHERE acdat.contains(line, 'd1')",
    'machine': "SELECT count(*) FROM lines WHERE acdat.contains(line, (SELECT machine FROM machines WHERE name = 'd1'))",
    'count_matches': "SELECT sum(acdat.count_matches(line, 'd1')) FROM lines",
    'replace': "SELECT sum(octet_length(acdat.replace(line, 'd1', 'leftmost_longest'))) FROM lines",
    'redact': "SELECT sum(octet_length(acdat.redact(line, 'd1'))) FROM lines",
    'matches': "SELECT count(*) FROM lines, acdat.matches(line, 'd1', 'all_overlapping') m",
    'matches_list': "SELECT count(m) FROM (SELECT acdat.matches(line, 'd1') m FROM lines OFFSET 0) s",
}


def statement(bench, name):
    like = quote('%' + like_escape(some_terms(bench, 3)[1]) + '%')
    return STATEMENTS[name].format(like=like)


def short_rows(bench, result):
    """One process; LIKE is the median of five different terms per round."""
    for build in bench.builds:
        setup_rows(bench, build)
        setup_d5(bench, build)
    likes = [STATEMENTS['like'].format(like=quote('%' + like_escape(term) + '%')) for term in some_terms(bench, 5)]
    with Statements(bench) as statements:
        statements.all('SET max_parallel_workers_per_gather = 0')
        variants = {name: statements.variant(name, statement(bench, name)) for name in STATEMENTS}
        each = [statements.variant('like%d' % n, sql) for n, sql in enumerate(likes)]
        variants['like'] = lambda build: sorted(like(build) for like in each)[2]
        variants['contains_d5'] = statements.variant(
            'contains_d5', "SELECT count(*) FROM lines WHERE acdat.contains(line, 'd5')")
        for build in bench.builds:      # into the caches
            for variant in variants.values():
                variant(build)
        interleave(bench, result, variants, bench.rounds)
    result.counts['rows'] = bench.rows
    result.counts['rows_with_a_term'] = int(statements.answers['contains'])
    result.counts['matches'] = int(statements.answers['matches'])
    result.counts['rows_with_a_d5_word'] = int(statements.answers['contains_d5'])
    for name, sql in sorted(statements.answers.items()):
        if name in ('machine', 'matches_list', 'count_matches'):
            other = 'contains' if name == 'machine' else 'matches'
            if sql != statements.answers[other]:
                raise AssertionError('%s says %s, %s %s' % (name, sql, other, statements.answers[other]))
    result.ratio('contains_to_like', 'contains', 'like')
    result.ratio('contains_to_raw', 'contains', 'raw')
    result.ratio('contains_d5_to_like', 'contains_d5', 'like')
    result.ratio('contains_to_machine', 'contains', 'machine')
    for name in ('replace', 'redact', 'matches', 'matches_list', 'count_matches'):
        result.ratio(name + '_to_contains', name, 'contains')


def setup_many_rows(bench, build, rows):
    """Table many_lines: the lines again and again."""
    def make(session):
        session.ask('CREATE TABLE many_lines AS SELECT line FROM generate_series(1, %d), lines LIMIT %d'
                    % (-(-rows // bench.rows), rows))
        session.ask('VACUUM (FREEZE, ANALYZE) many_lines')
        session.ask('CHECKPOINT')
    setup_rows(bench, build)
    build.once('many_rows', make)


def workers(bench, result):
    """Many rows with more processes; n workers are the leader and n - 1 more."""
    for build in bench.builds:
        setup_many_rows(bench, build, bench.many_rows)
    names = ('raw', 'like', 'contains', 'machine', 'replace', 'matches')
    counts = (1, 2) if bench.quick else (1, 2, 4, 8)
    with Statements(bench, one_process=False) as statements:
        for setting in ('min_parallel_table_scan_size = 0', 'parallel_setup_cost = 0', 'parallel_tuple_cost = 0',
                        'enable_indexonlyscan = off', 'enable_indexscan = off'):
            statements.all('SET ' + setting)
        variants = {}
        for count in counts:
            before = 'ALTER TABLE many_lines SET (parallel_workers = %d); SET max_parallel_workers_per_gather = %d' % (
                count - 1, count - 1)
            for name in names:
                variants['%s_%d' % (name, count)] = statements.variant(
                    name, statement(bench, name).replace('FROM lines', 'FROM many_lines'), before)
        interleave(bench, result, variants, 3)
    result.counts['rows'] = bench.many_rows
    cores = os.cpu_count()
    for name in names:
        for count in counts[1:]:
            result.ratio('speedup_%s_%d' % (name, count), name + '_1', '%s_%d' % (name, count))
    result.notes.append('%d processors; more workers than that gain only by taking a larger share of a busy machine' % cores)
    middle = {variant: sorted(v)[len(v) // 2] for variant, v in result.samples['now'].items()}
    result.plots.append({
        'file': 'workers', 'title': '%d short rows by number of workers' % bench.many_rows, 'x': 'workers', 'y': 'seconds',
        'columns': list(names), 'rows': [[count] + [middle['%s_%d' % (name, count)] for name in names] for count in counts]})


def wide_rows(bench, result):
    """Rows of three widths, of the same text: the server against the core."""
    build = bench.builds[0]
    widths = {'33B': 1, '1KiB': 33, '64KiB': 2114}
    lines = read_lines(bench.data.rows(bench.rows))
    lines = [line.split(b'\t', 1)[1] for line in lines][:400000]
    patterns = bench.data.shape('d1')[0]
    for width, group in widths.items():
        path = os.path.join(build.scratch, 'wide_%s.copy' % width)
        with open(path, 'wb') as file:
            for at in range(0, len(lines) - group + 1, group):
                file.write(b''.join(lines[at:at + group]) + b'\n')
        for each in bench.builds:
            setup_rows(bench, each)

            def make(session, width=width, path=path):
                session.ask('CREATE TABLE wide_%s (line text)' % width)
                session.ask('ALTER TABLE wide_%s ALTER line SET STORAGE EXTERNAL' % width)
                session.copy('wide_' + width, path)
                session.ask('VACUUM (FREEZE, ANALYZE) wide_' + width)
            each.once('wide_' + width, make)
        plain = path + '.txt'
        with open(path, 'rb') as source, open(plain, 'wb') as file:
            file.write(source.read().replace(b'\\\\', b'\\'))
    with Statements(bench) as statements:
        statements.all('SET max_parallel_workers_per_gather = 0')
        variants = {}
        for width in widths:
            table = 'wide_' + width
            # an anchored LIKE that fails at the first byte fetches the value and does nothing with it
            variants['fetch_' + width] = statements.variant(
                'fetch_' + width, "SELECT count(*) FROM %s WHERE line LIKE '\x01%%'" % table)
            variants['count_' + width] = statements.variant(
                'count_' + width, "SELECT sum(acdat.count_matches(line, 'd1')) FROM %s" % table)
            variants['like_' + width] = statements.variant(
                'like_' + width, "SELECT count(*) FROM %s WHERE line LIKE %s" % (
                    table, quote('%' + like_escape(some_terms(bench, 3)[1]) + '%')))
            variants['core_' + width] = lambda each, width=width: micro.call(
                each, *bench.micro_options, '-H', '-l', '-r', '1', patterns,
                os.path.join(build.scratch, 'wide_%s.copy.txt' % width))['scan_filter'][0]
        interleave(bench, result, variants, bench.rounds)
    now = result.samples['now']
    for width in widths:
        result.ratios['core_rate_reached_' + width] = [
            core / max(count - fetch, 1e-9) for core, count, fetch in
            zip(now['core_' + width], now['count_' + width], now['fetch_' + width])]
        result.ratio('count_to_like_' + width, 'count_' + width, 'like_' + width)


def short_calls(bench, result):
    """One million calls on values that are no rows of a table."""
    for build in bench.builds:
        setup_rows(bench, build)
    calls = 200000 if bench.quick else 1000000
    value = "'short value ' || i"
    source = 'SELECT count(*) FROM generate_series(1, %d) i WHERE ' % calls
    with Statements(bench) as statements:
        interleave(bench, result, {
            'octet_length': statements.variant('octet_length', source + 'octet_length(%s) < 0' % value),
            'like': statements.variant('like', source + "%s LIKE '%%needle%%'" % value),
            'contains': statements.variant('contains', source + "acdat.contains(%s, 'd1')" % value)}, bench.rounds)
    result.counts['calls'] = calls
    result.ratio('contains_to_octet_length', 'contains', 'octet_length')
    result.ratio('contains_to_like', 'contains', 'like')


SCENARIOS = [
    Scenario('short-rows', 'one process: raw scan, LIKE, contains, replace, redact, matches', short_rows),
    Scenario('workers', 'many short rows with 1, 2, 4 and 8 workers', workers),
    Scenario('wide-rows', 'rows of 33 B, 1 KiB and 64 KiB against the rate of the core', wide_rows),
    Scenario('short-calls', 'one million calls on short values', short_calls),
]
