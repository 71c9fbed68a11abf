"""Scenarios of what is written: triggers, COPY, the server log, and how a publish travels."""
import os
import subprocess
import time

import sql
from cluster import CONFIGURATION, Session, SqlError, wait_until
from measure import Scenario, interleave

# Tables that rows are written to, and the trigger that fires for each row.
SINKS = {
    'plain': None,
    'empty_trigger': 'sink_nothing()',
    'redact_trigger': "acdat.redact_trigger('d1', 'line')",
}


def setup_sinks(bench, build):
    def make(session):
        session.ask('CREATE FUNCTION sink_nothing() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN new; END$$')
        for name, function in SINKS.items():
            session.ask('CREATE TABLE sink_%s (id integer, line text)' % name)
            if function:
                session.ask('CREATE TRIGGER redact BEFORE INSERT OR UPDATE ON sink_%s FOR EACH ROW EXECUTE FUNCTION %s'
                            % (name, function))
        session.ask('CREATE TABLE sink_source AS SELECT id, line FROM lines WHERE id <= %d' % sink_rows(bench))
        session.ask('VACUUM (FREEZE, ANALYZE) sink_source')
        session.ask("COPY sink_source TO '%s'" % source_file(build))
    sql.setup_rows(bench, build)
    build.once('sinks', make)


def sink_rows(bench):
    return bench.rows // 5


def source_file(build):
    return os.path.join(build.data, 'sink_source.copy')


def writes(bench, result):
    """Rows written with no trigger, with one that does nothing, and with redact_trigger()."""
    for build in bench.builds:
        setup_sinks(bench, build)
    with sql.Statements(bench) as statements:
        statements.all('SET max_parallel_workers_per_gather = 0')
        variants = {}
        for name in SINKS:
            table = 'sink_' + name
            empty = 'TRUNCATE %s' % table
            variants['insert_' + name] = statements.variant(
                'insert_' + name, 'INSERT INTO %s SELECT * FROM sink_source' % table, empty)
            # every row again, so that each update finds the same table
            variants['update_' + name] = statements.variant(
                'update_' + name, "UPDATE %s SET line = line || ''" % table,
                '%s; INSERT INTO %s SELECT * FROM sink_source' % (empty, table))
            variants['copy_in_' + name] = lambda build, table=table, empty=empty, name=name: statements.variant(
                'copy_in_' + name, "COPY %s FROM '%s'" % (table, source_file(build)), empty)(build)
        variants['copy_out_plain'] = statements.variant(
            'copy_out_plain', "COPY (SELECT id, line FROM sink_source) TO '/dev/null'")
        variants['copy_out_redacted'] = statements.variant(
            'copy_out_redacted', "COPY (SELECT id, acdat.redact(line, 'd1') FROM sink_source) TO '/dev/null'")
        interleave(bench, result, variants, bench.rounds)
        for label, session in statements.sessions.items():
            # what went in through the trigger holds no term any more
            left = session.ask("SELECT count(*) FROM sink_redact_trigger WHERE acdat.contains(line, 'd1')")
            if left != '0':
                raise AssertionError('%s: %s rows were written with a term' % (label, left))
    result.counts['rows'] = sink_rows(bench)
    for work in ('insert', 'update', 'copy_in'):
        result.ratio(work + '_redact_trigger_to_plain', work + '_redact_trigger', work + '_plain')
        result.ratio(work + '_redact_trigger_to_empty_trigger', work + '_redact_trigger', work + '_empty_trigger')
    result.ratio('copy_out_redacted_to_plain', 'copy_out_redacted', 'copy_out_plain')


# ---- a publish on its way to other servers ----

class OtherServer:
    """Another server of a build, in a folder of its own below that of the first."""

    def __init__(self, build, name):
        self.build = build
        self.folder = os.path.join(build.scratch, name)
        self.data = os.path.join(self.folder, 'data')
        build.as_user('mkdir', self.folder)

    def program(self, name):
        return self.build.program(name)

    def connection(self, database='bench'):
        return ['-h', self.folder, '-U', 'bench', database]

    def configure(self, more=''):
        with open(os.path.join(self.data, 'postgresql.conf'), 'a', encoding='utf-8') as file:
            file.write(CONFIGURATION.format(scratch=self.folder) + more)

    def pg_ctl(self, *arguments):
        self.build.as_user(self.program('pg_ctl'), '-s', '-D', self.data, '-l', os.path.join(self.folder, 'log'), '-w',
                           *arguments, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)


def standby(build):
    """A physical standby that streams from the build's server."""
    other = OtherServer(build, 'standby')
    build.as_user(build.program('pg_basebackup'), '-h', build.scratch, '-U', 'bench', '-D', other.data, '-R', '-c', 'fast',
                  stdout=subprocess.DEVNULL)
    other.configure()
    other.pg_ctl('start')
    return other


def subscriber(build):
    """A server that the two tables come to by logical replication."""
    other = OtherServer(build, 'subscriber')
    build.as_user(build.program('initdb'), '-D', other.data, '-U', 'bench', '-A', 'trust', '-N', '-E', 'UTF8',
                  '--locale=C.UTF-8', stdout=subprocess.DEVNULL)
    other.configure()
    other.pg_ctl('start')
    with Session(other, 'postgres') as session:
        session.ask('CREATE DATABASE bench')
    with Session(build) as session:
        session.ask('CREATE PUBLICATION rules FOR TABLE acdat.dictionary, acdat.dictionary_version')
    with Session(other) as session:
        session.ask('CREATE EXTENSION acdat_bgw')
        session.ask("CREATE SUBSCRIPTION rules CONNECTION 'host=%s user=bench dbname=bench' PUBLICATION rules"
                    % build.scratch)
    return other


def answers(session, word):
    """Does the dictionary that travels have the word there?"""
    return session.ask("SELECT acdat.contains('%s', 'travel')" % word) == 't'


def arrived(session):
    """The first copies of the two tables come one after the other."""
    try:
        return answers(session, 'word 0')
    except SqlError:
        return False


def replication(bench, result):
    """From the commit of a publish to the first answer by it on another server."""
    build = bench.builds[0]
    sql.setup_rows(bench, build)
    build.once('logical', lambda session: session.ask("ALTER SYSTEM SET wal_level = 'logical'"))
    build.pg_ctl('-m', 'fast', 'restart')
    publish = "SELECT acdat.publish('travel', 'SELECT pattern FROM terms UNION ALL SELECT ''word %d''')"
    servers = {}
    try:
        with Session(build) as hub:
            hub.ask(publish % 0)
            servers['standby'] = standby(build)
            servers['subscriber'] = subscriber(build)
            sessions = {name: Session(server) for name, server in servers.items()}
            for session in sessions.values():
                wait_until(lambda session=session: arrived(session), 120)
            for number in range(1, bench.rounds + 1):
                for name, session in sessions.items():
                    word = 'word %d' % (10 * number + len(name))
                    hub.ask(publish % (10 * number + len(name)))
                    begin = time.monotonic()
                    wait_until(lambda session=session, word=word: answers(session, word), 120)
                    result.add('now', 'publish_to_answer_on_' + name, time.monotonic() - begin)
            naptime = float(hub.ask("SELECT extract(epoch FROM current_setting('acdat_bgw.naptime')::interval)"))
            for session in sessions.values():
                session.close()
            hub.ask('DROP PUBLICATION rules')
    finally:
        for name, server in servers.items():
            server.pg_ctl('-m', 'immediate', 'stop')
        with Session(build) as session:
            session.ask("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE NOT active")
            session.ask('ALTER SYSTEM RESET wal_level')
        build.pg_ctl('-m', 'fast', 'restart')
    for name in servers:
        result.ratios['delay_to_naptime_' + name] = [
            seconds / naptime for seconds in result.samples['now']['publish_to_answer_on_' + name]]


# ---- The server log ----

LOG_LINES = 20000

# What redaction may add to a line.
LOG_SECONDS = 20e-6


def setup_log(bench, build):
    def make(session):
        session.ask("SELECT acdat.publish('log', $$SELECT pattern FROM terms$$, cluster => true)")
        session.ask('CREATE FUNCTION write_lines(most integer) RETURNS void LANGUAGE plpgsql AS '
                    '$$DECLARE l text; BEGIN FOR l IN SELECT line FROM lines WHERE id <= most LOOP '
                    "RAISE LOG '%', l; END LOOP; END$$")
    sql.setup_rows(bench, build)
    build.once('log', make)


def log_tail(build):
    with open(os.path.join(build.scratch, 'log'), 'rb') as file:
        file.seek(0, os.SEEK_END)
        file.seek(max(0, file.tell() - 4096))
        return file.read()


def server_log(bench, result):
    """Lines written to the log with acdat_bgw.log_dictionary and without."""
    for build in bench.builds:
        setup_log(bench, build)
    with sql.Statements(bench) as statements:
        def variant(name, setting, term, expected):
            def is_set(session, build):
                session.ask("DO $$BEGIN RAISE LOG '%%', %s; END$$" % sql.quote('probe ' + term))
                return expected in log_tail(build).rsplit(b'LOG:', 1)[-1]

            def run(build):
                session = statements.sessions[build.label]
                session.ask("ALTER SYSTEM SET acdat_bgw.log_dictionary = '%s'" % setting)
                session.ask('SELECT pg_reload_conf()')
                wait_until(lambda: is_set(session, build))
                return statements.variant(name, 'SELECT write_lines(%d)' % LOG_LINES)(build)
            return run
        term = sql.some_terms(bench, 1)[0]
        interleave(bench, result, {
            'plain': variant('plain', '', term, ('probe ' + term).encode()),
            'redacted': variant('redacted', 'log', term, b'probe *'),
        }, bench.rounds)
        statements.all('ALTER SYSTEM RESET acdat_bgw.log_dictionary')
    result.counts['lines'] = LOG_LINES
    samples = result.samples['now']
    result.ratio('redacted_to_plain', 'redacted', 'plain')
    result.ratios['added_to_20_us'] = [(redacted - plain) / LOG_LINES / LOG_SECONDS
                                       for redacted, plain in zip(samples['redacted'], samples['plain'])]


SCENARIOS = [
    Scenario('server-log', 'lines of the server log with and without redaction', server_log),
    Scenario('writes', 'INSERT, UPDATE and COPY with and without redaction', writes),
    Scenario('replication', 'how long a publish takes to a standby and to a subscriber', replication, quick=False),
]
