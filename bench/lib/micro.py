"""Scenarios of the core alone, through the program micro."""
import subprocess

from data import SHAPES
from measure import Scenario


def call(build, *arguments, limit=600):
    """name -> values, as micro prints them; notes under '#'."""
    out = subprocess.run([build.micro, *arguments], check=True, capture_output=True, text=True, timeout=limit).stdout
    values = {'#': []}
    for line in out.splitlines():
        if line.startswith('# '):
            values['#'].append(line[2:])
        else:
            name, *numbers = line.split()
            values[name] = [float(number) for number in numbers]
    return values


def rounds_of(bench, arguments):
    """(label, values) of all rounds; with a baseline one round at a time."""
    if len(bench.builds) == 1:
        yield 'now', call(bench.builds[0], *bench.micro_options, '-r', str(bench.rounds), *arguments)
        return
    for number in range(bench.rounds):
        for build in bench.builds if number % 2 == 0 else bench.builds[::-1]:
            yield build.label, call(build, *bench.micro_options, '-H', '-r', '1', *arguments)


def keep(result, label, values, prefix=''):
    for name, numbers in values.items():
        if name == '#':
            result.notes.extend(note for note in numbers if note not in result.notes)
        elif name.startswith(('scan_', 'build', 'open_')):
            for number in numbers:
                result.add(label, prefix + name, number)
        elif label == 'now':
            result.counts[prefix + name] = int(numbers[0])


def shape_scenario(shape):
    def run(bench, result):
        patterns, text = bench.data.shape(shape)
        # Hyperscan takes longer to compile these than a quick run may
        skip = ['-H'] if bench.quick and shape in ('d3', 'd4', 'd7') else []
        modes = [('', ['-l'] if shape == 'd1' else skip)]
        if shape == 'd1':
            modes.append(('contains_', ['-l', '-c']))
        for prefix, options in modes:
            for label, values in rounds_of(bench, [*options, patterns, text]):
                keep(result, label, values, prefix)
            result.ratio(prefix + 'speed_to_hyperscan', prefix + 'scan_hyperscan', prefix + 'scan_filter')
            result.ratio(prefix + 'speed_to_automaton', prefix + 'scan_automaton', prefix + 'scan_filter')
        with open(patterns, 'rb') as file:
            result.counts['pattern_bytes'] = len(file.read().replace(b'\n', b''))
        result.ratios['image_bytes_per_pattern_byte'] = [result.counts['bytes'] / result.counts['pattern_bytes']]
        result.notes.append('real data' if bench.data.is_real(shape) else 'generated data')
        for name in list(result.samples['now']):
            if 'scan_' in name:
                mib = result.counts['text'] / (1 << 20)
                middle = sorted(result.samples['now'][name])[len(result.samples['now'][name]) // 2]
                result.counts['mib_per_s_' + name.replace('scan_', '')] = round(mib / middle)
    return run


def scaling(bench, result):
    """Build and scan from 10 patterns to a million, on the same text."""
    _, text = bench.data.shape('d2')
    rows = []
    counts = (10, 100, 1000, 10000, 100000) if bench.quick else (10, 100, 1000, 10000, 100000, 1000000)
    for count in counts:
        # Hyperscan takes minutes for a million
        extra = ['-H'] if count > 100000 else []
        for label, values in rounds_of(bench, [*extra, bench.data.words(count), text]):
            keep(result, label, values, 'n%d_' % count)
        now = result.samples['now']
        row = [count]
        for name in ('build', 'scan_filter', 'scan_automaton', 'scan_hyperscan'):
            values = now.get('n%d_%s' % (count, name))
            row.append(sorted(values)[len(values) // 2] if values else None)
        rows.append(row)
    for low, high in zip(rows, rows[1:]):
        if low[0] >= 10000:
            result.ratios['build_per_pattern_%d_to_%d' % (low[0], high[0])] = [
                (high[1] / high[0]) / (low[1] / low[0])]
    mib = bench.data.text_bytes / (1 << 20)
    result.plots.append({
        'file': 'scaling', 'title': 'Scan of random text by number of patterns', 'x': 'patterns', 'y': 'MiB/s',
        'logx': True, 'logy': True, 'columns': ['acdat', 'automaton alone', 'Hyperscan'],
        'rows': [[r[0]] + [mib / v if v else None for v in r[2:]] for r in rows]})
    result.plots.append({
        'file': 'build', 'title': 'Compile time by number of patterns', 'x': 'patterns', 'y': 'seconds',
        'logx': True, 'logy': True, 'columns': ['acdat'], 'rows': [[r[0], r[1]] for r in rows]})


SCENARIOS = [Scenario('core-' + shape, about, shape_scenario(shape), server=False) for shape, about in zip(SHAPES, (
    '1,114 Chinese terms, line by line', '100,000 random patterns, no hits', 'the same, nothing begins a pattern',
    'the same, half of the text is patterns', '100,000 Han words, no hits', '100,000 patterns of one prefix',
    '338,000 words on prose', '50 secrets on log lines'))]
SCENARIOS.append(Scenario('core-scaling', '10 to 1,000,000 patterns: build and scan', scaling,
                          server=False, quick=False))
