"""Scenarios of many sessions: pgbench, new connections, memory, restarts."""
import glob
import os
import subprocess
import threading

import durable
import sql
from cluster import Session
from measure import Scenario, interleave

WORDS = 100000


def setup_words(bench, build, count):
    """Dictionary w<count>, its patterns in table w<count>, and a machine value."""
    def make(session):
        session.ask('CREATE TABLE w%d (pattern text)' % count)
        session.copy('w%d' % count, bench.data.words(count))
        session.ask('VACUUM (FREEZE, ANALYZE) w%d' % count)
        session.ask("SELECT acdat.publish('w%d', 'SELECT pattern FROM w%d')" % (count, count))
        session.ask("INSERT INTO machines SELECT 'w%d', acdat.compile(pattern) FROM w%d" % (count, count))
    sql.setup_rows(bench, build)
    build.once('words%d' % count, make)


# ---- pgbench ----

# what is asked of a row, and the table that rows are inserted into
PGBENCH = {
    'octet_length': ('octet_length(line)', 'sink_plain'),
    'contains': ("acdat.contains(line, 'd1')", 'sink_redact_trigger'),
}


class Publisher(threading.Thread):
    """Publishes d1 again every second until stopped."""

    def __init__(self, build):
        super().__init__()
        self.build = build
        self.finished = threading.Event()
        self.count = 0

    def run(self):
        with Session(self.build) as session:
            while not self.finished.wait(1.0 if self.count else 0):
                session.ask("SELECT acdat.republish('d1')")
                self.count += 1

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.finished.set()
        self.join()


def percentile(ordered, part):
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def pgbench_script(build, name, text):
    path = os.path.join(build.scratch, name + '.sql')
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)
    return path


def pgbench(bench, result, build, name, expression, sink=None):
    """Seconds per reading transaction and session; percentiles go into the result.

    With a sink, one transaction in five inserts a row there.
    """
    row = '\\set id random(1, %d)\n' % bench.rows
    scripts = ['-f', pgbench_script(build, 'read', row + 'SELECT %s FROM lines WHERE id = :id;\n' % expression) + '@4']
    if sink:
        scripts += ['-f', pgbench_script(
            build, 'write', row + 'INSERT INTO %s SELECT id, line FROM lines WHERE id = :id;\n' % sink) + '@1']
    prefix = os.path.join(build.scratch, 'pgbench')
    clients = 2
    subprocess.run([build.program('pgbench'), '-n', '-M', 'prepared', '-c', str(clients), '-j', '2', '-T',
                    '1' if bench.quick else '4', *scripts, '-l', '--log-prefix', prefix,
                    *build.connection()], check=True, capture_output=True)
    latencies = []
    for path in glob.glob(prefix + '.*'):
        with open(path, encoding='ascii') as file:
            # fields: client, number, microseconds, script, ...
            latencies += [int(words[2]) / 1e6 for words in map(str.split, file) if words[3] == '0']
        os.unlink(path)
    latencies.sort()
    for part in (0.50, 0.99):
        result.add(build.label, '%s_p%d' % (name, part * 100), percentile(latencies, part))
    return sum(latencies) / len(latencies)


def single_rows(bench, result):
    """pgbench -M prepared, two sessions, one row by key: alone, with a publisher, with writes among the reads."""
    for build in bench.builds:
        durable.setup_sinks(bench, build)
    published = []

    def variant(name, expression, publishing, sink=None):
        def run(build):
            if not publishing:
                return pgbench(bench, result, build, name, expression, sink)
            with Publisher(build) as publisher:
                seconds = pgbench(bench, result, build, name, expression)
            published.append(publisher.count)
            return seconds
        return run
    variants = {}
    for name, (expression, sink) in PGBENCH.items():
        variants[name] = variant(name, expression, False)
        variants[name + '_publishing'] = variant(name + '_publishing', expression, True)
        variants[name + '_writing'] = variant(name + '_writing', expression, False, sink)
    interleave(bench, result, variants, bench.rounds if bench.quick else bench.rounds + 4)
    result.counts['publishes'] = sum(published)
    result.ratio('throughput_to_octet_length', 'octet_length', 'contains')
    result.ratio('throughput_to_octet_length_publishing', 'octet_length_publishing', 'contains_publishing')
    result.ratio('throughput_to_octet_length_writing', 'octet_length_writing', 'contains_writing')
    result.ratio('p50_to_octet_length', 'contains_p50', 'octet_length_p50')
    result.ratio('p50_to_octet_length_publishing', 'contains_publishing_p50', 'octet_length_publishing_p50')
    result.ratio('p99_to_octet_length', 'contains_p99', 'octet_length_p99')


# ---- new connections ----

def new_connections(bench, result):
    """The first scan of a new session, dictionary or machine value, small or large."""
    large = WORDS if bench.quick else 1000000
    for build in bench.builds:
        setup_words(bench, build, large)
        build.once('other', lambda session: session.ask("SELECT acdat.publish('other', ARRAY['y'])"))
    calls = {'d1': "SELECT acdat.contains('x', 'd1')", 'large': "SELECT acdat.contains('x', 'w%d')" % large}
    for name, machine in (('d1', 'd1'), ('large', 'w%d' % large)):
        calls[name + '_machine'] = "SELECT acdat.contains('x', machine) FROM machines WHERE name = '%s'" % machine
    connections = 30 if bench.quick else 200
    for _ in range(connections):
        for build in bench.builds:
            for name, statement in calls.items():
                # a session for each, warm but for the dictionary asked for
                with Session(build) as session:
                    session.ask("SELECT octet_length('x') FROM machines WHERE name = 'none'")
                    session.ask("SELECT acdat.contains('x', 'other')")
                    result.add(build.label, 'first_' + name, session.time(statement)[0])
                    result.add(build.label, 'second_' + name, session.time(statement)[0])
    result.counts['connections'] = connections
    result.counts['patterns_large'] = large
    result.ratio('first_large_to_first_d1', 'first_large', 'first_d1')
    result.ratio('first_to_second_large', 'first_large', 'second_large')
    result.ratio('machine_to_dictionary_large', 'first_large_machine', 'first_large')
    now = result.samples['now']
    extra = {name: [f - s for f, s in zip(now['first_' + name], now['second_' + name])] for name in ('d1', 'large')}
    bins = 20
    top = percentile(sorted(extra['large'] + extra['d1']), 0.99) or 1e-6
    counts = {name: [0] * (bins + 1) for name in extra}
    for name, values in extra.items():
        for value in values:
            counts[name][min(bins, max(0, int(value / top * bins)))] += 1
    result.plots.append({
        'file': 'first-scan', 'title': 'First scan of a session over its second', 'x': 'microseconds', 'y': 'sessions',
        'columns': ['1,114 patterns', '%d patterns' % large], 'style': 'steps linewidth 2',
        'rows': [[round(n * top / bins * 1e6, 1), counts['d1'][n], counts['large'][n]] for n in range(bins + 1)]})


# ---- memory ----

def private_bytes(pid):
    """Bytes that only this process has, and its page tables."""
    total = 0
    private = False
    with open('/proc/%d/smaps' % pid, encoding='utf-8', errors='replace') as file:
        for line in file:
            words = line.split()
            if len(words) >= 5 and '-' in words[0] and len(words[1]) == 4:
                private = words[1].endswith('p')
            elif private and words[0] in ('Private_Clean:', 'Private_Dirty:'):
                total += int(words[1]) * 1024
    with open('/proc/%d/status' % pid, encoding='utf-8') as file:
        tables = [int(line.split()[1]) * 1024 for line in file if line.startswith('VmPTE:')]
    return total, tables[0]


def memory(bench, result):
    """Memory of 1 to 9 sessions that scan with 100,000 patterns."""
    build = bench.builds[0]
    setup_words(bench, build, WORDS)
    # the patterns are the text: every part of the machine is read
    scan = "SELECT count(*) FROM w100000 WHERE acdat.contains(pattern, %s)"
    kinds = {'dictionary': "'%s'", 'machine': "(SELECT machine FROM machines WHERE name = '%s')"}
    with Session(build) as session:
        segment = int(session.ask(
            "SELECT bytes FROM acdat.generations WHERE dictionary = 'w%d' AND state = 'live'" % WORDS))
    totals = {}
    for kind, dictionary in kinds.items():
        sessions = [Session(build) for _ in range(9)]
        total = segment if kind == 'dictionary' else 0
        totals[kind] = []
        costs = []
        for session in sessions:
            pid = session.pid()
            session.ask(scan % (dictionary % 'd1'))
            before = private_bytes(pid)
            session.ask(scan % (dictionary % ('w%d' % WORDS)))
            after = private_bytes(pid)
            costs.append((after[0] - before[0], after[1] - before[1]))
            total += sum(costs[-1])
            totals[kind].append(total)
        for session in sessions:
            session.close()
        ordered = sorted(costs)
        result.counts['private_bytes_per_process_' + kind] = ordered[4][0]
        result.counts['page_table_bytes_per_process_' + kind] = sorted(c[1] for c in costs)[4]
    result.counts['machine_bytes'] = segment
    result.ratios['total_9_to_1_dictionary'] = [totals['dictionary'][8] / totals['dictionary'][0]]
    result.ratios['machine_to_dictionary_9'] = [totals['machine'][8] / totals['dictionary'][8]]
    result.plots.append({
        'file': 'memory', 'title': 'Memory for %d patterns by number of processes' % WORDS,
        'x': 'processes', 'y': 'MiB',
        'columns': ['shared dictionary', 'machine value'],
        'rows': [[n + 1, totals['dictionary'][n] / (1 << 20), totals['machine'][n] / (1 << 20)] for n in range(9)]})


# ---- restarts ----

def cold_start(bench, result):
    """First answer after a restart and after a crash, against publishing."""
    for build in bench.builds:
        setup_words(bench, build, WORDS)
    call = "SELECT acdat.contains('x', 'w%d')" % WORDS

    def publish(build):
        with Session(build) as session:
            return session.time("SELECT acdat.republish('w%d')" % WORDS)[0]

    def after(mode):
        def run(build):
            build.pg_ctl('-m', mode, 'restart')
            with Session(build) as session:
                seconds, answer = session.time(call)
                if answer != 'f':
                    raise AssertionError('wrong answer after a restart: ' + answer)
                return seconds
        return run
    interleave(bench, result, {'publish': publish, 'first_answer_after_restart': after('fast'),
                               'first_answer_after_crash': after('immediate')}, bench.rounds)
    result.counts['patterns'] = WORDS
    result.ratio('restart_to_publish', 'first_answer_after_restart', 'publish')
    result.ratio('crash_to_publish', 'first_answer_after_crash', 'publish')


SCENARIOS = [
    Scenario('single-rows', 'pgbench -M prepared, one row each, alone, while others publish, and with writes', single_rows),
    Scenario('connections', 'first scan of new connections', new_connections),
    Scenario('memory', 'memory of 1 to 9 processes, dictionary and machine value', memory),
    Scenario('cold-start', 'first answer after a restart and after a crash', cold_start),
]
