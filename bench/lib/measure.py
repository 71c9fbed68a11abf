"""Scenarios, and the samples, ratios and counts they give."""
import statistics


def summary(values):
    """(median, smallest, largest)"""
    return statistics.median(values), min(values), max(values)


class Result:
    """What one scenario measured.

    samples[label][variant]  seconds, one per round, in the order of the rounds
    ratios[key]              one per round, of numbers of the same round
    counts[key]              numbers that do not depend on the machine's speed
    """

    def __init__(self, name):
        self.name = name
        self.samples = {}
        self.units = {}
        self.ratios = {}
        self.counts = {}
        self.notes = []
        self.plots = []

    def add(self, label, variant, seconds):
        self.samples.setdefault(label, {}).setdefault(variant, []).append(seconds)

    def ratio(self, key, above, below, label='now'):
        """The ratio of two variants, paired by round."""
        samples = self.samples[label]
        if above in samples and below in samples:
            self.ratios[key] = [a / b for a, b in zip(samples[above], samples[below]) if b > 0]

    def against_baseline(self):
        """variant -> paired ratios of this build and the baseline."""
        base = self.samples.get('base', {})
        return {variant: [n / b for n, b in zip(now, base[variant]) if b > 0]
                for variant, now in self.samples.get('now', {}).items() if base.get(variant)}

    def as_json(self):
        return {'scenario': self.name, 'seconds': self.samples, 'ratios': self.ratios, 'counts': self.counts,
                'units': self.units, 'notes': self.notes}


class Scenario:
    """A named measurement; run(bench, result) fills the result."""

    def __init__(self, name, about, run, quick=True, server=True):
        self.name = name
        self.about = about
        self.run = run
        self.quick = quick
        self.server = server


def interleave(bench, result, variants, rounds):
    """Run every variant of every build once per round.

    variants: name -> function(build) that returns seconds.  The order of the
    builds alternates, so that neither always comes after the other.
    """
    for number in range(rounds):
        builds = bench.builds if number % 2 == 0 else bench.builds[::-1]
        for name, function in variants.items():
            for build in builds:
                result.add(build.label, name, function(build))
