# SPDX-License-Identifier: LGPL-2.1-or-later
"""report.py FOLDER SVG: the tables of `run`, on standard output, and the picture.

FOLDER/<machine>/ has what the virtual machines left: <host>-<computer>, one card's time in µs
a line, and one of them `stream`.
"""
import os
import sys
from html import escape
from math import log10

MACHINES = (
    ('real', 'Two processors, real time'),
    ('counted', 'One processor, 2 ns an instruction'),
)
# name, description, colour (Okabe and Ito's, which colour-blind people can distinguish)
HOSTS = (
    ('module', 'module', '#0072b2'),
    ('libusb-fifo', 'libusb, SCHED_FIFO', '#009e73'),
    ('libusb', 'libusb', '#d55e00'),
)
# name, dash pattern of its line
COMPUTERS = (('idle', '5 4'), ('busy', ''))
DEADLINES = (1000, 2000, 5000, 20000)
READERS = {
    'module': 'module: read(2), as many records as there are',
    'libusb': 'libusb (usbfs): 8 transfers in flight',
    'hidraw': 'hidraw: read(2), one report each',
}


def samples(folder, machine):
    """{(host, computer): times, in order}"""
    found = {}
    for host, _, _ in HOSTS:
        for computer, _ in COMPUTERS:
            with open(os.path.join(folder, machine, host + '-' + computer)) as file:
                found[host, computer] = sorted(int(line) for line in file)
    return found


def percentile(times, share):
    """The time that this share of the cards did not exceed; some card took exactly that."""
    rank = -(-len(times) * share // 1000)
    return times[max(1, rank) - 1]


def figures(times):
    return [percentile(times, 500), percentile(times, 990), percentile(times, 999), times[-1]] + \
        [sum(time > deadline for time in times) for deadline in DEADLINES]


def routing_table(cells):
    late = ['> %d ms' % (deadline / 1000) for deadline in DEADLINES]
    print('| computer | host | cards | median | p99 | p99.9 | max |', ' | '.join(late), '|')
    print('|---|---' + '|--:' * (5 + len(late)) + '|')
    for computer, _ in COMPUTERS:
        for host, text, _ in HOSTS:
            times = cells[host, computer]
            print('|', ' | '.join([computer, text, str(len(times))] +
                                  [str(figure) for figure in figures(times)]), '|')
    print()
    for computer, _ in COMPUTERS:
        # usbmon counts whole microseconds, so a time below one counts as one
        ours = max(1, percentile(cells['module', computer], 999))
        ratios = ['%s %.0f' % (text, percentile(cells[host, computer], 999) / ours)
                  for host, text, _ in HOSTS if host != 'module']
        print('- p99.9 on the %s computer, as a multiple of the module\'s: %s.' %
              (computer, ', '.join(ratios)))


def stream_table(path):
    rows = []
    with open(path) as file:
        for line in file:
            name, *numbers = line.split()
            rows.append((name, [float(number) for number in numbers]))
    ours = rows[0][1]
    print('| read by | reader, µs/event | kernel, µs/event | both | ratio '
          '| events/s without loss | ratio |')
    print('|---|--:|--:|--:|--:|--:|--:|')
    for name, (reader, kernel, rate) in rows:
        print('| %s | %.1f | %.1f | %.1f | %.2f | %.0f | %.2f |' % (
            READERS[name], reader / 1e3, kernel / 1e3, (reader + kernel) / 1e3,
            (reader + kernel) / (ours[0] + ours[1]), rate, rate / ours[2]))


# -- the picture ---------------------------------------------------------------------

LEFT, TOP, WIDTH, HEIGHT, GAP = 104, 66, 380, 330, 64
DECADES_X, DECADES_Y = (0, 6), (-4, 0)      # 1 µs .. 1 s; one card in 10,000 .. all


class Panel:
    def __init__(self, index, title):
        self.left = LEFT + index * (WIDTH + GAP)
        self.title = title
        self.parts = []

    def x(self, microseconds):
        low, high = DECADES_X
        decade = min(max(log10(max(microseconds, 1)), low), high)
        return self.left + WIDTH * (decade - low) / (high - low)

    def y(self, share):
        low, high = DECADES_Y
        return TOP + HEIGHT * (high - max(log10(share), low)) / (high - low)

    def text(self, x, y, text, more=''):
        self.parts.append('<text x="%.1f" y="%.1f" %s>%s</text>' % (x, y, more, escape(text)))

    def line(self, x1, y1, x2, y2, more):
        self.parts.append('<path d="M%.1f %.1fL%.1f %.1f" %s/>' % (x1, y1, x2, y2, more))

    def axes(self, first):
        names = ('1 µs', '10 µs', '100 µs', '1 ms', '10 ms', '100 ms', '1 s')
        shares = ('all', '1 in 10', '1 in 100', '1 in 1000', '1 in 10 000')
        bottom, right = TOP + HEIGHT, self.left + WIDTH
        for decade, name in enumerate(names):
            x = self.x(10 ** decade)
            self.line(x, TOP, x, bottom, 'class="grid"')
            self.text(x, bottom + 18, name, 'text-anchor="middle"')
        for decade, name in enumerate(shares):
            y = self.y(10 ** -decade)
            self.line(self.left, y, right, y, 'class="grid"')
            if first:
                self.text(self.left - 8, y + 4, name, 'text-anchor="end"')
        for deadline in DEADLINES:
            x = self.x(deadline)
            self.line(x, TOP, x, bottom, 'class="deadline"')
            self.text(x, TOP - 6, str(deadline // 1000), 'text-anchor="middle" class="small"')
        self.text(self.x(500), TOP - 6, 'deadline, ms:', 'text-anchor="end" class="small"')
        self.text(self.left + WIDTH / 2, TOP - 26, self.title, 'text-anchor="middle" class="title"')
        self.text(self.left + WIDTH / 2, bottom + 40, 'card read → gate command', 'text-anchor="middle"')

    def curve(self, times, colour, strokes, label):
        """The share of the cards that waited at least so long, in steps."""
        count, points = len(times), []

        def point(x, y):
            # leave out points that no eye can distinguish
            if not points or abs(x - points[-1][0]) + abs(y - points[-1][1]) > 0.8:
                points.append((x, y))
        for at, time in enumerate(times):
            if at == 0 or time > times[at - 1]:
                y = self.y((count - at) / count)
                if points:
                    point(points[-1][0], y)
                point(self.x(time), y)
        points.append((self.x(times[-1]), TOP + HEIGHT))
        self.parts.append('<path class="curve" d="M%s" stroke="%s" stroke-dasharray="%s">'
                          '<title>%s</title></path>' % ('L'.join('%.1f %.1f' % p for p in points),
                                                        colour, strokes, escape(label)))


def legend(y):
    parts, x = [], LEFT
    for computer, strokes in COMPUTERS:
        for _, text, colour in HOSTS:
            parts.append('<path class="curve" d="M%d %dh34" stroke="%s" stroke-dasharray="%s"/>'
                         '<text x="%d" y="%d">%s</text>' % (
                             x, y - 4, colour, strokes, x + 40, y,
                             escape('%s, %s' % (text, computer))))
            x += 220
        x, y = LEFT, y + 20
    return parts


def picture(path, machines):
    height = TOP + HEIGHT + 108
    width = LEFT + len(machines) * (WIDTH + GAP) - GAP + 24
    width = max(width, 760)
    parts = []
    for index, (title, cells) in enumerate(machines):
        panel = Panel(index, title)
        panel.axes(index == 0)
        for computer, strokes in COMPUTERS:
            for host, text, colour in HOSTS:
                panel.curve(cells[host, computer], colour, strokes, '%s, %s' % (text, computer))
        parts += panel.parts
    parts.append('<text transform="translate(18 %d) rotate(-90)" text-anchor="middle">'
                 'cards that waited at least so long</text>' % (TOP + HEIGHT / 2))
    parts += legend(TOP + HEIGHT + 72)
    with open(path, 'w') as file:
        file.write('''<?xml version="1.0" encoding="UTF-8"?>
<!-- SPDX-License-Identifier: CC-BY-SA-4.0 -->
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-labelledby="t d">
<title id="t">How long a card waits for its gate command</title>
<desc id="d">For the kernel module and for programs on libusb, on an idle and a busy computer: the share of
cards that waited at least so long, both axes logarithmic. Further left is better.</desc>
<style>
text { font: 12px sans-serif; fill: #222 }
.title { font-size: 14px; font-weight: bold }
.small { font-size: 10px }
path { fill: none }
.grid { stroke: #ddd }
.deadline { stroke: #888; stroke-dasharray: 1 3 }
.curve { stroke-width: 2 }
</style>
<rect width="100%%" height="100%%" fill="#fff"/>
%s
</svg>
''' % (width, height, '\n'.join(parts)))


def main():
    folder, svg = sys.argv[1:]
    machines = []
    for name, title in MACHINES:
        if not os.path.isdir(os.path.join(folder, name)):
            continue
        cells = samples(folder, name)
        machines.append((title, cells))
        print('### %s\n' % title)
        print('Card read to gate command, in µs:\n')
        routing_table(cells)
        print()
        stream = os.path.join(folder, name, 'stream')
        if os.path.exists(stream):
            print('Reading a stream of events:\n')
            stream_table(stream)
            print()
    picture(svg, machines)


main()
