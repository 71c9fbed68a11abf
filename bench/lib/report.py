"""Tables, plots and the description of the machine."""
import os
import platform
import shutil
import subprocess

import budget
from measure import summary


def seconds(value):
    if value >= 1:
        return '%.3g s' % value
    if value >= 0.001:
        return '%.3g ms' % (value * 1000)
    return '%.3g us' % (value * 1e6)


def show(value, unit):
    return seconds(value) if unit is None else '%.4g %s' % (value, unit)


def table(result):
    """Markdown of everything a scenario measured."""
    lines = ['| figure | median | min | max |', '|---|---:|---:|---:|']
    for label, variants in result.samples.items():
        suffix = '' if label == 'now' else ' (baseline)'
        for variant, values in variants.items():
            unit = result.units.get(variant)
            lines.append('| %s%s | %s | %s | %s |' % (
                variant, suffix, *(show(value, unit) for value in summary(values))))
    for key, values in result.ratios.items():
        if values:
            lines.append('| **%s** | **%.3g** | %.3g | %.3g |' % (key, *summary(values)))
    for variant, values in result.against_baseline().items():
        lines.append('| **%s now / baseline** | **%.3g** | %.3g | %.3g |' % (variant, *summary(values)))
    for key, value in result.counts.items():
        lines.append('| %s | %s | | |' % (key, '{:,}'.format(value)))
    return '\n'.join(lines + [''] + ['- ' + note for note in result.notes])


def first_line(path, start):
    try:
        with open(path, encoding='utf-8') as file:
            for line in file:
                if line.startswith(start):
                    return line.split(':', 1)[1].strip()
    except OSError:
        pass
    return 'unknown'


def revision(tree):
    """What was measured: a commit, and whether there were changes on top."""
    try:
        told = subprocess.run(['git', '-C', tree, 'describe', '--always', '--dirty'], capture_output=True, text=True)
    except OSError:
        return 'unknown'
    return told.stdout.strip() or 'unknown'


def machine(bench):
    return {
        'processor': first_line('/proc/cpuinfo', 'model name'), 'processors': os.cpu_count(),
        'memory': first_line('/proc/meminfo', 'MemTotal'), 'kernel': platform.release(),
        'server': bench.builds[0].version, 'revision': bench.revision,
        'load average at the end': ' '.join('%.1f' % load for load in os.getloadavg()),
        'clock': 'processor time where one process works' if bench.cpu else 'wall',
        'data': 'ACDAT_DATA for d1, d5 and d7, else generated' if bench.data.real else 'generated',
    }


def plot(folder, spec):
    """Draw one plot with gnuplot; returns the file's name."""
    name = spec['file'] + '.png'
    path = os.path.join(folder, spec['file'] + '.dat')
    with open(path, 'w', encoding='utf-8') as file:
        for row in spec['rows']:
            file.write(' '.join('?' if value is None else str(value) for value in row) + '\n')
    style = spec.get('style', 'linespoints linewidth 2 pointtype 7')
    script = ['set terminal pngcairo size 800,480', "set output '%s'" % os.path.join(folder, name),
              "set title '%s'" % spec['title'], "set xlabel '%s'" % spec['x'], "set ylabel '%s'" % spec['y'],
              'set grid', 'set key outside right', "set datafile missing '?'", 'set style fill solid 0.6']
    if spec.get('logx'):
        script.append('set logscale x 10; set format x "%.0s%c"')
    if spec.get('logy'):
        script.append('set logscale y 10')
    else:
        script.append('set yrange [0:*]')
    script.append('plot ' + ', '.join("'%s' using 1:%d with %s title '%s'" % (
        path, number + 2, style, column.replace('_', ' ')) for number, column in enumerate(spec['columns'])))
    subprocess.run(['gnuplot'], input='\n'.join(script) + '\n', text=True, check=True)
    os.unlink(path)
    return name


def write(folder, bench, told, results, verdicts, command):
    os.makedirs(folder, exist_ok=True)
    with_plots = shutil.which('gnuplot') is not None
    if not with_plots:
        print('# no plots: gnuplot is not installed')
    lines = ['# Report of bench/run', '', '`bench/run %s`' % ' '.join(command), '']
    lines += ['- %s: %s' % item for item in told.items()]
    lines += ['- short rows: {:,}'.format(bench.rows), '- rounds: %d' % bench.rounds, '', '## Budget', '',
              budget.table(verdicts)]
    for result in results:
        lines += ['', '## ' + result.name, '', table(result)]
        for spec in result.plots if with_plots else []:
            lines += ['', '![%s](%s)' % (spec['title'], plot(folder, spec))]
    with open(os.path.join(folder, 'report.md'), 'w', encoding='utf-8') as file:
        file.write('\n'.join(lines) + '\n')
    print('# report: %s' % os.path.join(folder, 'report.md'))
