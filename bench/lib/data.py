"""Dictionaries and texts: real ones of ACDAT_DATA, or generated from a fixed seed.

d1  1,114 Chinese terms on short lines, 5.6 % of which contain one
d2  100,000 random patterns of 6-16 small letters on random small letters
d3  the same on text in which no pattern can begin
d4  the same on text half of which is patterns
d5  100,000 Han words on Han text with next to none of them
d6  100,000 patterns of one shared prefix
d7  338,000 words on prose made of words
d8  50 secrets on log lines
"""
import os
import random

LOWER = b'abcdefghijklmnopqrstuvwxyz'
UPPER = b'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ'
SHAPES = ('d1', 'd2', 'd3', 'd4', 'd5', 'd6', 'd7', 'd8')
REAL = ('d1', 'd5', 'd7')
HAN = [chr(0x4e00 + n) for n in range(0, 6000, 2)]


def letters(rng, alphabet, count):
    table = bytes(alphabet[n % len(alphabet)] for n in range(256))
    return rng.randbytes(count).translate(table)


def random_words(rng, count, low=6, high=16):
    words = {}
    while len(words) < count:
        pool = letters(rng, LOWER, 1 << 20)
        at = 0
        while at + high < len(pool) and len(words) < count:
            length = rng.randint(low, high)
            words[pool[at:at + length]] = None
            at += length
    return list(words)


def filled(size, pick, glue):
    parts, total = [], 0
    while total < size:
        part = pick()
        parts.append(part)
        total += len(part) + len(glue)
    # cut, but not in the middle of a character
    return glue.join(parts)[:size].decode('utf-8', 'ignore').encode()


def han(rng, low, high, chars=HAN):
    return ''.join(rng.choices(chars, k=rng.randint(low, high))).encode()


def make_d1(rng, size):
    terms = {}
    while len(terms) < 1114:
        terms[han(rng, 2, 6)] = None
    terms = list(terms)

    def line():
        words = [han(rng, 1, 5)]
        if rng.random() < 0.3:
            words.append(b'%d' % rng.randrange(10000))
        if rng.random() < 0.056:
            words.append(rng.choice(terms))
        words.append(han(rng, 2, 6))
        return b''.join(words)
    return terms, filled(size, line, b'\n')


def make_d5(rng, size):
    # few words of two characters: text of the same characters has next to no hits
    words = {}
    while len(words) < 100000:
        words[han(rng, 3, 6) if rng.random() < 0.98 else han(rng, 2, 2)] = None
    return list(words), filled(size, lambda: han(rng, 40, 40), b'')


def make_d6(rng, size):
    shared = [b'pattern-%08d' % n for n in rng.sample(range(10 ** 8), 100000)]

    def word():
        chance = rng.random()
        if chance < 0.004:
            return b'pattern-%08d' % rng.randrange(10 ** 8)
        if chance < 0.005:
            return rng.choice(shared)
        if chance < 0.010:
            return b'pattern'
        return letters(rng, LOWER, rng.randint(2, 12))
    return shared, filled(size, word, b' ')


def make_d7(rng, size):
    parts = [a + b for a in 'b c d f g h l m n p r s t v w st tr pl'.split() for b in 'a e i o u ea ou'.split()]
    words = {}
    while len(words) < 338000:
        words[(''.join(rng.choices(parts, k=rng.randint(2, 4))) + rng.choice(['', 's', 'ed', 'ing'])).encode()] = None
    words = [word for word in words if len(word) >= 5]
    common = [b'the', b'of', b'and', b'to', b'a', b'in'] * 500 + rng.choices(words, k=6000)
    return words, filled(size, lambda: rng.choice(common), b' ')


def make_d8(rng, size):
    secrets = [letters(rng, LOWER + UPPER, rng.randint(16, 32)) for _ in range(50)]

    def line():
        secret = rng.choice(secrets) if rng.random() < 0.001 else letters(rng, LOWER, 20)
        return b'2026-01-02 03:04:%02d.%03d UTC [%d] LOG:  session %s took %d ms' % (
            rng.randrange(60), rng.randrange(1000), rng.randrange(30000), secret, rng.randrange(5000))
    return secrets, filled(size, line, b'\n')


def make(shape, size):
    """Patterns and text of a shape."""
    rng = random.Random('acdat text of ' + shape)
    if shape in ('d2', 'd3', 'd4'):
        words = random_words(random.Random('acdat patterns of d2'), 100000)
        if shape == 'd2':
            return words, letters(rng, LOWER, size)
        if shape == 'd3':
            return words, letters(rng, UPPER, size)
        return words, filled(size, lambda: rng.choice(words) if rng.random() < 0.5 else
                             letters(rng, LOWER, rng.randint(6, 16)), b'')
    return {'d1': make_d1, 'd5': make_d5, 'd6': make_d6, 'd7': make_d7, 'd8': make_d8}[shape](rng, size)


class Data:
    """Files of dictionaries and texts, made once and kept in a folder."""

    def __init__(self, folder, text_bytes):
        self.folder = os.path.join(folder, '%d' % text_bytes)
        self.text_bytes = text_bytes
        self.real = None
        given = os.environ.get('ACDAT_DATA')
        for place in (given, os.path.join(given, 'workloads')) if given else ():
            if os.path.exists(os.path.join(place, 'd1.pat')):
                self.real = place
        os.makedirs(self.folder, exist_ok=True)

    def is_real(self, shape):
        return self.real is not None and shape in REAL

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, produce):
        """The path of a file, written by produce(file) unless it is there."""
        path = self.path(name)
        if not os.path.exists(path):
            with open(path + '.new', 'wb') as file:
                produce(file)
            os.rename(path + '.new', path)
        return path

    def shape(self, shape):
        """Paths of the patterns and the text of d1 .. d8."""
        kind = '.real' if self.is_real(shape) else ''
        patterns, text = self.path(shape + kind + '.pat'), self.path(shape + kind + '.txt')
        if not (os.path.exists(patterns) and os.path.exists(text)):
            if kind:
                words = read_lines(os.path.join(self.real, shape + '.pat'))
                with open(os.path.join(self.real, shape + '.txt'), 'rb') as file:
                    content = file.read(self.text_bytes if shape != 'd1' else 2 * self.text_bytes)
                content = content[:content.rfind(b'\n') + 1] or content
            else:
                words, content = make(shape, self.text_bytes)
            self.write(os.path.basename(patterns), lambda file: file.write(b'\n'.join(words) + b'\n'))
            self.write(os.path.basename(text), lambda file: file.write(content))
        return patterns, text

    def words(self, count):
        """A file of so many random words of 6-16 letters."""
        return self.write('words%d.pat' % count, lambda file: file.write(
            b'\n'.join(random_words(random.Random('acdat %d' % count), count)) + b'\n'))

    def rows(self, count):
        """A file for COPY: id, short line; the lines of d1, again and again if need be."""
        lines = [line.replace(b'\\', b'\\\\').replace(b'\t', b' ') for line in read_lines(self.shape('d1')[1])]

        def produce(file):
            for n in range(count):
                file.write(b'%d\t%s\n' % (n + 1, lines[n % len(lines)]))
        return self.write('rows%d%s.copy' % (count, '.real' if self.is_real('d1') else ''), produce)


    def prose(self, count):
        """A file for COPY: id, line of eight generated words that d7 is made of."""
        words = make('d7', 1 << 20)[1].split()

        def produce(file):
            for n in range(count):
                at = n * 8 % (len(words) - 8)
                file.write(b'%d\t%s\n' % (n + 1, b' '.join(words[at:at + 8])))
        return self.write('prose%d.copy' % count, produce)

    def prose_words(self, count):
        """A file of so many of the rarer words of that prose, and of words that are not in it."""
        patterns, text = make('d7', 1 << 20)
        used = sorted({word for word in text.split() if len(word) > 4})
        absent = sorted(set(patterns) - set(used))
        half = count // 2
        chosen = used[::max(1, len(used) // half)][:half] + absent[::max(1, len(absent) // half)][:half]
        return self.write('prose_words%d.pat' % count, lambda file: file.write(b'\n'.join(chosen) + b'\n'))


def read_lines(path):
    with open(path, 'rb') as file:
        return [line.rstrip(b'\r\n') for line in file]
