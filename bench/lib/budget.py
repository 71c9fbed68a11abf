"""Judges results by bench/budget.toml."""
import statistics
import tomllib


class Verdict:
    def __init__(self, scenario, key, value, rule):
        self.scenario = scenario
        self.key = key
        self.value = value
        self.target = rule.get('target')
        self.limit = rule.get('maximum', rule.get('minimum'))
        sign = 1 if 'maximum' in rule else -1
        self.missed = self.target is not None and sign * value > sign * self.target
        self.broken = self.limit is not None and sign * value > sign * self.limit
        self.relation = '<=' if sign == 1 else '>='

    def word(self):
        return 'BROKEN' if self.broken else 'target missed' if self.missed else 'ok'


def judge(results, path):
    with open(path, 'rb') as file:
        rules = tomllib.load(file)
    verdicts = []
    for result in results:
        for key, rule in rules.get(result.name, {}).items():
            if key in result.ratios:
                verdicts.append(Verdict(result.name, key, statistics.median(result.ratios[key]), rule))
            elif key in result.counts:
                verdicts.append(Verdict(result.name, key, result.counts[key], rule))
        for variant, ratios in result.against_baseline().items():
            verdicts.append(Verdict(result.name, variant + ' to baseline', statistics.median(ratios),
                                    rules['baseline']))
    return verdicts


def number(value):
    return '-' if value is None else '%.4g' % value if abs(value) < 10000 else '{:,.0f}'.format(value)


def table(verdicts):
    lines = ['| scenario | figure | median | target | limit | |', '|---|---|---:|---:|---:|---|']
    for v in verdicts:
        lines.append('| %s | %s | %s | %s | %s %s | %s |' % (
            v.scenario, v.key, number(v.value), number(v.target), v.relation, number(v.limit), v.word()))
    return '\n'.join(lines)
