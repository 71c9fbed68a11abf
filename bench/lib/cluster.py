"""Builds of the extension and the private clusters they run in."""
import os
import re
import subprocess
import time

CONFIGURATION = """
shared_preload_libraries = 'acdat_bgw'
listen_addresses = ''
unix_socket_directories = '{scratch}'
max_connections = 60
shared_buffers = 1GB
max_worker_processes = 40
max_parallel_workers = 16
max_wal_size = 4GB
maintenance_work_mem = 256MB
autovacuum = off
jit = off
acdat_bgw.max_memory = 4GB
"""


class SqlError(Exception):
    pass


class Build:
    """One tree built and installed in a folder of its own, with a server."""

    def __init__(self, label, scratch, tree, here):
        self.label = label
        self.scratch = scratch
        self.done = set()           # what has been set up in the server
        self.running = False
        os.makedirs(scratch, exist_ok=True)
        subprocess.run([os.path.join(here, 'prepare'), scratch, tree], check=True)
        with open(os.path.join(scratch, 'prepared'), encoding='utf-8') as file:
            prepared = dict(line.rstrip('\n').split('=', 1) for line in file)
        self.bindir = prepared['bindir']
        self.version = prepared['version']
        self.user = prepared['user']
        self.hyperscan = prepared['hyperscan'] == 'yes'
        self.micro = os.path.join(scratch, 'micro')
        self.data = os.path.join(scratch, 'data')

    def as_user(self, *command, **options):
        if os.getuid() == 0:
            command = ('runuser', '-u', self.user, '--') + command
        return subprocess.run(command, check=True, cwd=self.scratch, **options)

    def program(self, name):
        return os.path.join(self.bindir, name)

    def pg_ctl(self, *arguments):
        self.as_user(self.program('pg_ctl'), '-s', '-D', self.data, '-l', os.path.join(self.scratch, 'log'),
                     '-w', *arguments, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)

    def start(self):
        """The server runs afterwards, with the extension in database bench."""
        if self.running:
            return
        self.as_user(self.program('initdb'), '-D', self.data, '-U', 'bench', '-A', 'trust', '-N', '-E', 'UTF8',
                     '--locale=C.UTF-8', stdout=subprocess.DEVNULL)
        with open(os.path.join(self.data, 'postgresql.conf'), 'a', encoding='utf-8') as file:
            file.write(CONFIGURATION.format(scratch=self.scratch))
        self.running = True
        self.pg_ctl('start')
        with Session(self, 'postgres') as session:
            session.ask('CREATE DATABASE bench')
        with Session(self) as session:
            session.ask('CREATE EXTENSION acdat_bgw')

    def stop(self):
        if self.running:
            self.pg_ctl('-m', 'immediate', 'stop')
            self.running = False

    def connection(self, database='bench'):
        return ['-h', self.scratch, '-U', 'bench', database]

    def once(self, key, make):
        """Run make(session) if that has not been done in this server."""
        if key not in self.done:
            with Session(self) as session:
                make(session)
            self.done.add(key)


def processor_time(pid):
    with open('/proc/%d/schedstat' % pid, encoding='ascii') as file:
        return int(file.read().split()[0]) / 1e9


class Session:
    """A psql that is kept open; times are psql's own."""

    MARK = '--bench-mark--'

    def __init__(self, build, database='bench'):
        self.backend = None
        self.process = subprocess.Popen(
            [build.program('psql'), '-X', '-q', '-A', '-t', *build.connection(database)], text=True,
            encoding='utf-8', stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env={**os.environ, 'PGOPTIONS': ''})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def raw(self, text):
        self.process.stdin.write('%s\n\\echo %s\n' % (text, self.MARK))
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            if line.rstrip('\n') == self.MARK:
                break
            lines.append(line.rstrip('\n'))
        else:
            raise SqlError('psql ended: ' + ' '.join(lines))
        for line in lines:
            if line.startswith(('ERROR:', 'FATAL:')) or ': ERROR: ' in line:
                raise SqlError(' '.join(lines))
        return lines

    def ask(self, sql):
        return '\n'.join(self.raw(sql + ';'))

    def time_cpu(self, sql):
        """As time(), but processor time of the session's own process."""
        if self.backend is None:
            self.backend = self.pid()
        before = processor_time(self.backend)
        answer = self.ask(sql)
        return processor_time(self.backend) - before, answer

    def time(self, sql):
        """Seconds and answer of one statement."""
        lines = self.raw('\\timing on\n%s;\n\\timing off' % sql)
        took = [line for line in lines if line.startswith('Time: ')]
        seconds = float(re.match(r'Time: ([\d.]+) ms', took[-1]).group(1)) / 1000
        return seconds, '\n'.join(line for line in lines if not line.startswith('Time: '))

    def copy(self, table, path):
        self.raw("\\copy %s from '%s'" % (table, path))

    def pid(self):
        return int(self.ask('SELECT pg_backend_pid()'))


def wait_until(condition, seconds=60):
    """Poll until condition() holds."""
    limit = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > limit:
            raise SqlError('waited in vain')
        time.sleep(0.01)
