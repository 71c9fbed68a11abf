"""Scenarios of publishing, and of instructions counted under callgrind."""
import glob
import os
import re
import shutil
import subprocess

import clients
import micro
import sql
from cluster import Session
from measure import Scenario, interleave


def publish(bench, result):
    """publish() end to end, against its query alone, the aggregate and the core."""
    counts = {'1114': ('terms', bench.data.shape('d1')[0]), '100000': ('w100000', bench.data.words(100000))}
    if not bench.quick:
        counts['1000000'] = ('w1000000', bench.data.words(1000000))
    for build in bench.builds:
        for count in counts:
            if count != '1114':
                clients.setup_words(bench, build, int(count))
        with Session(build) as session:
            session.ask("SELECT acdat.publish('p1114', 'SELECT pattern FROM terms', keep_versions => 1)")
    variants = {}
    wal = {}
    with sql.Statements(bench, one_process=False) as statements:
        for count, (table, path) in counts.items():
            name = 'p1114' if count == '1114' else table
            republish = statements.variant(
                'publish_' + count, "SELECT acdat.publish('%s', 'SELECT pattern FROM %s', keep_versions => 1) > 0"
                % (name, table))

            def counted(build, count=count, republish=republish):
                session = statements.sessions[build.label]
                before = session.ask('SELECT pg_current_wal_lsn()')
                seconds = republish(build)
                wal[count] = int(session.ask("SELECT pg_current_wal_lsn() - '%s'::pg_lsn" % before))
                return seconds
            variants['publish_' + count] = counted
            variants['query_' + count] = statements.variant(
                'query_' + count, 'SELECT count(*), sum(octet_length(pattern)) FROM ' + table)
            variants['aggregate_' + count] = statements.variant(
                'aggregate_' + count, 'SELECT (acdat.machine_info(acdat.compile(pattern))).patterns FROM ' + table)
            if count == '100000':
                variants['aggregate_stored_' + count] = statements.variant(
                    'aggregate_stored_' + count,
                    'CREATE TABLE stored AS SELECT acdat.compile(pattern) AS machine FROM ' + table,
                    'DROP TABLE IF EXISTS stored')
            variants['core_' + count] = lambda build, path=path: micro.call(
                build, '-b', '-r', '1', path)['build'][0]
        interleave(bench, result, variants, bench.rounds)
    result.ratio('publish_to_aggregate_stored_100000', 'publish_100000', 'aggregate_stored_100000')
    for count in counts:
        result.ratio('publish_to_aggregate_' + count, 'publish_' + count, 'aggregate_' + count)
        result.ratio('publish_to_core_' + count, 'publish_' + count, 'core_' + count)
        result.counts['wal_bytes_' + count] = wal[count]


# ---- instructions ----

ROWS = 20000


def instructions(bench, result):
    """Instructions per 31-byte row in a server of one process, under callgrind.

    There are no background workers in such a server, so that the dictionary
    is a machine value; the scan is the same.
    """
    if shutil.which('valgrind') is None:
        result.notes.append('skipped: valgrind is not installed')
        return
    statements = {
        'octet_length': 'SELECT count(*) FROM short_lines WHERE octet_length(line) < 0',
        'like': sql.statement(bench, 'like').replace('FROM lines', 'FROM short_lines'),
        'contains': sql.STATEMENTS['machine'].replace('FROM lines', 'FROM short_lines'),
    }

    def make(session):
        session.ask('CREATE TABLE short_lines AS SELECT line FROM lines '
                    'WHERE octet_length(line) BETWEEN 28 AND 34 LIMIT %d' % ROWS)
        session.ask('VACUUM (FREEZE, ANALYZE) short_lines')
        result.counts['bytes_per_row'] = int(session.ask('SELECT avg(octet_length(line))::int FROM short_lines'))
        result.counts['rows'] = int(session.ask('SELECT count(*) FROM short_lines'))
    for build in bench.builds:
        sql.setup_rows(bench, build)
        build.once('short_lines', make)
        build.pg_ctl('-m', 'fast', 'stop')
        counts = count_instructions(build, [text for text in statements.values() for _ in range(2)])
        build.pg_ctl('start')
        rows = result.counts['rows']
        # of each pair the second, when all caches are filled
        per_row = {name: counts[2 * n + 1] / rows for n, name in enumerate(statements)}
        if build.label == 'now':
            for name, value in per_row.items():
                result.counts['instructions_' + name] = round(value)
            added = per_row['contains'] - per_row['octet_length']
            result.counts['instructions_contains_over_octet_length'] = round(added)
            result.ratios['contains_to_like'] = [per_row['contains'] / per_row['like']]
        else:
            result.counts['instructions_contains_baseline'] = round(per_row['contains'])
            result.ratios['contains_to_baseline'] = [result.counts['instructions_contains'] / per_row['contains']]


def count_instructions(build, statements):
    """Instructions that the executor takes for each statement."""
    out = os.path.join(build.scratch, 'callgrind')
    build.as_user('valgrind', '--tool=callgrind', '--callgrind-out-file=' + out, '--toggle-collect=standard_ExecutorRun',
                  '--dump-after=standard_ExecutorRun', build.program('postgres'), '--single', '-D', build.data,
                  '-c', 'shared_preload_libraries=', '-c', 'max_parallel_workers_per_gather=0', 'bench',
                  input='\n'.join(statements) + '\n', text=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    counts = []
    for path in sorted(glob.glob(out + '.*'), key=lambda path: int(path.rsplit('.', 1)[1])):
        with open(path, encoding='utf-8') as file:
            told = re.search(r'^(?:summary|totals): (\d+)', file.read(), re.M)
        counts.append(int(told.group(1)) if told else 0)
        os.unlink(path)
    return counts[:len(statements)]


SCENARIOS = [
    Scenario('publish', 'publish of 1,114, 100,000 and 1,000,000 terms', publish),
    Scenario('instructions', 'instructions per short row, under callgrind', instructions),
]
