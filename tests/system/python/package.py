# SPDX-License-Identifier: LGPL-2.1-or-later
"""package.py SOURCE: what the package does without a machine."""
import array
import contextlib
import copy
import dataclasses
import errno
import gc
import io
import logging
import os
import pathlib
import pickle
import re
import signal
import subprocess
import sys
import tempfile
import threading
import traceback

import dealbox
from dealbox import audit, laws, square
from dealbox import Board, Deal, Deals, Numbering, Seat, Set
from endings import raises, run

source = pathlib.Path(sys.argv[1])
EVENING = source / 'docs/examples/club-evening.pbn'
CARDS = re.compile(r'[AKQJT2-9]{2,}\.|[SHDC][AKQJT2-9]\b')


def random_deals(count):
    return dealbox.Random().deals(count)


def hidden(thing):
    """No way of showing a thing by accident shows a card."""
    log = io.StringIO()
    handler = logging.StreamHandler(log)
    logger = logging.Logger('test')
    logger.addHandler(handler)
    logger.error('%s %r', thing, thing)
    for text in repr(thing), str(thing), '%s' % (thing,), f'{thing}', repr([thing]), log.getvalue():
        assert not CARDS.search(text), type(thing)


def test_cards_and_seats():
    assert dealbox.card_name(0) == 'SA' and dealbox.parse_card('h10') == dealbox.parse_card('HT') == 17
    assert dealbox.card_name(-1) == dealbox.card_name(1 << 40) == '?'
    assert Seat.parse('w') is Seat.WEST and Seat.WEST.letter == 'W' and Seat.WEST.title == 'West'
    assert dealbox.dealer_of(2) is Seat.EAST and dealbox.vulnerable_of(4) is dealbox.Vulnerable.ALL
    assert raises(dealbox.Error, dealbox.dealer_of, 0).errno == errno.EINVAL
    assert dealbox.BRIDGE.sizes == [13] * 4 and len(dealbox.PREFERANS.cards) == 32
    assert dealbox.BRIDGE.sorted() == bytes(range(52))
    raises(ValueError, dealbox.Pack, 'poker')
    raises(ValueError, dealbox.parse_card, 'S\0A')


def test_a_deal_is_text_and_back():
    deal = dealbox.Random().deal()
    text = deal.reveal()
    assert Deal(text) == deal and hash(Deal(text)) == hash(deal) and deal.complete() and not deal.check()
    assert deal.reveal(Seat.SOUTH).startswith('S:') and Deal(deal.reveal(Seat.SOUTH)) == deal
    assert sorted(card for hand in deal.hands for card in hand) == list(range(52))
    for seat in Seat:
        for card in deal.hand(seat):
            assert deal.holder(card) == seat and card in deal.hand(seat)
    raises(ValueError, deal.hand, 4)
    assert Deal.of_hands(deal.hands) == deal
    preferans = dealbox.Random().deal(dealbox.PREFERANS)
    assert [len(hand) for hand in preferans.hands] == [10, 10, 10, 2] and preferans.complete(dealbox.PREFERANS)
    assert not preferans.complete()


def test_a_bad_deal_has_its_defects():
    deal = Deal()
    assert not deal.complete() and len(deal.check()) == 56
    hands = dealbox.Random().deal().hands
    card = next(iter(hands[1]))
    hands[0] = dealbox.Cards(hands[0].mask | 1 << card)
    defects = Deal.of_hands(hands).check()
    assert [(d.kind, d.hands) for d in defects] == [('card-repeated', [0, 1]), ('hand-size', [0])]
    assert defects[0].card == card and defects[1].card is None
    assert (defects[1].count, defects[1].expected) == (14, 13)
    for defect in defects:
        hidden(defect)


def test_nothing_shows_a_card_by_accident():
    deal = dealbox.Random().deal()
    text = deal.reveal()
    board = Board(deal, 7)
    boards = Set()
    boards.add(board)
    for thing in deal, board, deal.hands, deal.hand(Seat.NORTH), boards, boards.deals(), boards[0], vars(board), \
            dealbox.Plan.by_card(deal), dealbox.Plan.by_position(deal, dealbox.BRIDGE.sorted()), boards.frame():
        hidden(thing)
    frame = boards.frame(reveal=True)
    assert list(frame.columns[-4:]) == ['north', 'east', 'south', 'west'] and frame.north[0] in text
    # nor does what is raised, with all that Python says of it
    bad = text.replace('.', '.x', 1)
    for act in (lambda: Deal(bad), lambda: dealbox.parse_card(text), lambda: boards.add(Deal(text[:-2])),
                lambda: Set.parse(('[Board "1"]\n[Deal "%s"]\n' % bad).encode(), format='pbn'),
                lambda: Deals.from_seats(b'\1' * 52), lambda: pickle.dumps(deal), lambda: pickle.dumps(board)):
        try:
            act()
        except Exception as error:
            assert not CARDS.search(''.join(traceback.format_exception_only(error))), error
            hidden(error)
        else:
            raise AssertionError('nothing was raised')
    assert copy.deepcopy(board).deal == copy.copy(deal) == deal
    # only who asks sees it
    problem = raises(dealbox.Error, Set.parse, ('[Board "1"]\n[Deal "%s"]\n' % text.replace(
        text[2], 'K' if text[2] != 'K' else 'Q', 1)).encode(), format='pbn').problems
    assert any(CARDS.search(p.reveal()) for p in problem) and not any(CARDS.search(str(p)) for p in problem)


def test_sets_are_read_and_written():
    boards = Set.read(EVENING)
    assert len(boards) == 24 and boards[-1].number == 24 and boards.board(3).number == 3
    raises(KeyError, boards.board, 99)
    raises(IndexError, boards.__getitem__, 24)
    assert boards[1].dealer is Seat.EAST and boards[1].vulnerable is dealbox.Vulnerable.NS
    assert boards[0].file == str(EVENING) and boards[0].line > 0
    assert len(list(boards)) == 24 and not boards.check()
    writable = [format.name for format in dealbox.formats() if format.writable]
    assert 'pbn' in writable and 'lin' in writable
    with tempfile.TemporaryDirectory() as folder:
        for name in writable:
            path = os.path.join(folder, 'x.' + name)
            boards.write(path, format=name)
            assert [b.deal for b in Set.read(path, format=name, strict=False)] == [b.deal for b in boards], name
            data = pathlib.Path(path).read_bytes()
            assert boards.to_bytes(name) == data and dealbox.recognise(data, path) == name, name
        raises(ValueError, boards.write, os.path.join(folder, 'x.nothing'))
        error = raises(dealbox.Error, boards.write, folder + '/no/x.pbn')
        assert error.errno == errno.ENOENT and 'x.pbn' in str(error)
    assert raises(dealbox.Error, Set.read, '/no/file.pbn').errno == errno.ENOENT
    raises(ValueError, Set.read, EVENING, format='nothing')


def test_a_file_with_problems_is_refused():
    text = EVENING.read_text()
    bad = text.replace('[Board "2"]', '[Board "1"]', 1).encode()
    error = raises(dealbox.Error, Set.parse, bad)
    assert error.errno == errno.EBADMSG and error.problems and 'board' in str(error)
    assert len(Set.parse(bad, strict=False)) == 24
    cut = re.sub(r'(\[Deal "N:[^.]*)[AKQJT2-9]\.', r'\1.', text, count=1).encode()
    error = raises(dealbox.Error, Set.parse, cut)
    assert 'card-missing' in [problem.code for problem in error.problems]
    some = Set.parse(cut, strict=False)
    assert len(some) == 23 and some.report.found()
    raises(dealbox.Error, Set.parse, b'')


def test_boards_are_added():
    boards = Set()
    deal = dealbox.Random().deal()
    boards.add(Board(deal, label='2-1', dealer=Seat.WEST, vulnerable=dealbox.Vulnerable.EW, file='x', line=3))
    board = boards[0]
    assert (board.name, board.dealer, board.vulnerable, board.file, board.line) == (
        '2-1', Seat.WEST, dealbox.Vulnerable.EW, 'x', 3) and board.deal == deal
    assert raises(dealbox.Error, boards.add, Deal()).errno == errno.EINVAL
    boards.marks = dealbox.lib.DEALBOX_MARK_UNPLAYED
    assert raises(dealbox.Error, setattr, boards, 'marks', 4).errno == errno.EINVAL
    assert boards.marks == dealbox.lib.DEALBOX_MARK_UNPLAYED
    # a board stays what it is when its set is gone
    del boards
    gc.collect()
    assert board.deal == deal


def test_arrays_of_deals_go_out_and_in():
    deals = random_deals(1000)
    for out, size, back in ((deals.seats(), 52, Deals.from_seats), (deals.packed(), 13, Deals.from_packed),
                            (deals.numbers(), 16, Deals.from_numbers), (deals.hands, 32, Deals.from_hands)):
        data = bytes(out)
        assert len(data) == size * 1000
        # whatever the buffer, and where it begins
        for buffer in data, bytearray(data), memoryview(b'x' + data)[1:], array.array('B', data):
            assert back(buffer) == deals
        assert len(back(b'')) == 0
        raises(ValueError, back, data[:-1])
        raises(BufferError, back, memoryview(data)[::2])
    for n in 0, 999, -1:
        deal = deals[n]
        assert bytes(deals.seats()[52 * n:][:52]) == bytes(deal.holder(card) for card in range(52))
        assert int.from_bytes(deals.numbers()[16 * n:][:16], 'little') == deal.number()
        assert deals.hands[4 * n] == deal.hand(0).mask
    raises(IndexError, deals.__getitem__, 1000)
    assert deals.complete() == b'\1' * 1000
    boards = Set()
    boards.extend(deals, first=9)
    assert boards.deals() == deals and [boards[0].number, boards[-1].number] == [9, 1008]


def test_arrays_with_a_wrong_deal_are_refused():
    deals = random_deals(10)
    seats, packed, numbers = deals.seats(), deals.packed(), deals.numbers()
    one, other = next(c for c in range(52) if seats[52 * 7 + c] == 0), next(
        c for c in range(52) if seats[52 * 7 + c] == 1)
    for wrong in 1, 4, 255:
        bad = bytearray(seats)
        bad[52 * 7 + one] = wrong
        assert 'number 7' in str(raises(ValueError, Deals.from_seats, bad))
    bad = bytearray(packed)
    bad[13 * 7 + one // 4] |= 3 << one % 4 * 2
    assert 'number 7' in str(raises(ValueError, Deals.from_packed, bad))
    bad = bytearray(numbers)
    bad[16 * 7 + 15] = 255
    assert 'number 7' in str(raises(ValueError, Deals.from_numbers, bad))
    bad = array.array('Q', deals.hands)
    bad[4 * 7] |= 1 << other
    assert 'number 7' in str(raises(ValueError, Deals.from_hands, bad))
    # those that are made empty are no deals
    empty = Deals(3)
    assert empty.complete() == b'\0\0\0'
    boards = Set()
    boards.add(dealbox.Random().deal(), 1)
    raises(dealbox.Error, boards.extend, empty, 2)
    raises(dealbox.Error, boards.extend, deals, 0x7fffffff)
    raises(dealbox.Error, boards.extend, deals, 0)
    assert len(boards) == 1
    raises(TypeError, deals.hands.__setitem__, 0, 0)


def test_an_array_outlives_its_deals():
    deals = random_deals(1000)
    expected, view = bytes(deals.hands), deals.hands
    del deals
    gc.collect()
    random_deals(1000)
    assert bytes(view) == expected


def test_numbers():
    for numbering in Numbering:
        deal = Deal.of_number(numbering.first, numbering)
        assert deal.number(numbering) == numbering.first
        raises(ValueError, Deal.of_number, numbering.first + 53644737765488792839237440000, numbering)
        raises(ValueError, Deal.of_number, numbering.first - 1, numbering)
        assert Numbering.find(numbering.title) is numbering
    assert dealbox.parse_number('53,644,737,765,488,792,839,237,440,000') == 53644737765488792839237440000
    raises(ValueError, Deal.of_number, 1 << 128)
    raises(ValueError, Deal().number)


def test_300000_boards_as_arrays():
    """bench_python.py has the time."""
    deals = dealbox.Random().deals(300000, threads=2)
    boards = Set()
    boards.extend(Deals.from_packed(deals.packed()))
    assert len(boards) == 300000 and boards.deals() == deals
    assert Deals.from_numbers(deals.numbers()) == deals


def test_big_deal():
    one, all_at_once = dealbox.BigDeal(b'owner', b'entropy'), dealbox.BigDeal(b'owner', b'entropy').deals(3)
    assert [one.deal() for _ in range(3)] == list(all_at_once)
    assert dealbox.BigDeal.hashed(b'owner', bytes(20)).deal().complete()
    raises(ValueError, dealbox.BigDeal.hashed, b'owner', b'short')


def test_a_fork_deals_other_deals():
    source = dealbox.Random()
    source.deal()
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.write(writer, bytes(source.deals(10).packed()) + source.deal().reveal().encode())
        os._exit(0)
    os.close(writer)
    with open(reader, 'rb') as file:
        other = file.read()
    os.waitpid(child, 0)
    assert len(other) == 199
    mine = bytes(source.deals(10).packed()) + source.deal().reveal().encode()
    assert all(mine[13 * n:][:13] != other[13 * n:][:13] for n in range(10)) and mine[130:] != other[130:]


def test_a_fork_does_not_wait_for_a_thread():
    source = dealbox.Random()
    with source._held():
        child = os.fork()
        if not child:
            signal.alarm(30)
            source.deal()
            os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


def test_what_there_is_once_is_not_copied():
    for thing in dealbox.Random(), dealbox.Monitor(), laws.Judge(), object.__new__(dealbox.Machine):
        for act in copy.copy, copy.deepcopy, pickle.dumps:
            raises(TypeError, act, thing)


def test_facts_and_hands_are_copied_and_not_pickled():
    deal = dealbox.Random().deal()
    verdict = dealbox.verify(dealbox.Plan.by_card(deal), dealbox.Trace(1), capabilities=0)
    difference, hand = verdict.differences[-1], deal.hand(Seat.NORTH)
    for act in copy.copy, copy.deepcopy:
        assert act(difference).reveal() == difference.reveal() and act(hand) == hand
    for thing in difference, hand:
        assert raises(TypeError, pickle.dumps, thing)


def test_threads_share_a_source():
    source, dealt = dealbox.Random(), []

    def deal():
        for _ in range(200):
            dealt.append(bytes(source.deals(20).packed()))

    threads = [threading.Thread(target=deal) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({block[13 * n:][:13] for block in dealt for n in range(20)}) == 4 * 200 * 20


def test_zeros_cut_nothing_off():
    for act in (lambda: Set.read('a\0b'), lambda: Set().write('/tmp/a.pbn\0b', format='pbn'),
                lambda: dealbox.Machine('emu:a\0b'), lambda: Set().add(Board(Deal(), label='a\0b')),
                lambda: Set().add(Board(Deal(), file='a\0b')),
                lambda: dealbox.Plan.by_card(dealbox.Random().deal(), pockets='NESW\0x')):
        assert 'a zero' in str(raises(ValueError, act))
    for letter in '', 'NE', '\xe9':
        raises(dealbox.Error, Seat.parse, letter)
    raises(ValueError, dealbox.Random().deal().reveal, 4)


def test_a_thousand_boards_are_a_frame():
    boards = Set()
    boards.extend(random_deals(1000))
    frame = boards.frame()
    assert len(frame) == 1000 and list(frame.number[:3]) == [1, 2, 3] and frame.name[999] == '1000'
    revealed = boards.frame(reveal=True)
    assert revealed.shape == (1000, 10) and len(revealed.north[0]) == 16


def test_a_plan_wants_a_deal():
    assert raises(dealbox.Error, dealbox.Plan.by_card, Deal()).errno == errno.EINVAL
    deal = dealbox.Random().deal()
    raises(dealbox.Error, dealbox.Plan.by_card, deal, 0)
    raises(dealbox.Error, dealbox.Plan.by_card, deal, 1, pockets='NNSW')
    raises(dealbox.Error, dealbox.Plan.by_position, deal, bytes(52))
    raises(dealbox.Error, dealbox.Plan.capture, 9)
    raises(OverflowError, dealbox.Plan.by_card, deal, 1 << 32)


def test_a_trace_without_a_deal_is_not_exact():
    verdict = dealbox.verify(dealbox.Plan.by_card(dealbox.Random().deal()), dealbox.Trace(1), capabilities=0)
    assert not verdict and not verdict.exact and verdict.differences and 'not an exact' in str(verdict)
    assert verdict.differences[0].name == 'not-started' and verdict.basis is dealbox.Basis.NONE
    differences = verdict.differences
    del verdict
    gc.collect()
    assert [str(d) for d in differences] and all(hidden(d) is None for d in differences)
    raises(TypeError, dealbox.verify, dealbox.Plan.capture(0), dealbox.Trace(1))


def test_numbers_of_a_later_library_are_no_error():
    assert dealbox.Basis(2) is dealbox.Basis.SENSORS and dealbox.Basis(99) is dealbox.Basis.NONE
    assert dealbox.EventClass(4) is dealbox.EventClass.VOID
    assert dealbox.EventClass(99) is dealbox.EventClass.UNKNOWN


def test_results_are_read_by_name_so_that_they_can_grow():
    rulings = laws.Judge().record('rules duplicate-2017\npack\nboard 1\nN deal N faceup\nE notes misdeal\n')
    for result in dealbox.Found('emu:/x', '', '', ''), dealbox.formats()[0], rulings[0], laws.Judge().result, \
            laws.paragraph('duplicate-2017', '6D1'), audit.Audit().tests()[0], square.Phase(1, '1-8', 'a#', 'b#'):
        assert dataclasses.is_dataclass(result)
        raises(TypeError, tuple, result)
        raises(TypeError, lambda: result[0])
        name = dataclasses.fields(result)[0].name
        raises(dataclasses.FrozenInstanceError, setattr, result, name, None)


def test_differences_do_not_tell_the_deal():
    said = set()
    for _ in range(5):
        verdict = dealbox.verify(dealbox.Plan.by_card(dealbox.Random().deal()), dealbox.Trace(1), capabilities=0)
        missing = [d for d in verdict.differences if d.name == 'card-missing']
        assert len(missing) == 52 and 'pocket' in missing[0].reveal()
        said.add('%s %r' % (verdict, verdict.differences) + ''.join(map(str, verdict.differences)))
    assert len(said) == 1 and 'pocket' not in said.pop()


def test_square_deal():
    tournament = square.Square()
    assert raises(dealbox.Error, tournament.publish, dealbox.Random()).next is not None
    tournament.name, tournament.info = 'Autumn', 'the closing value of the exchange'
    tournament.add_phase(square.Phase(2, '1-8,9-16', 'autumn-#', 'session #'))
    keys = tournament.publish(dealbox.Random())
    error = raises(dealbox.Error, setattr, tournament, 'name', 'Winter')
    assert error.errno == errno.EPERM and error.text
    assert raises(dealbox.Error, tournament.deal, keys, 1, 1).errno == errno.ENODATA
    tournament.value = '12,345.67'
    assert tournament.value == '1234567' and len(tournament.hash) == 64 and tournament.phases[0].sessions == 2
    assert tournament.session(1, 2).low == 9
    boards = tournament.deal(keys, 1, 2)
    assert [boards[0].number, len(boards)] == [9, 8]
    # whoever has the files gets the same deals
    again = square.Square.parse(tournament.print().encode())
    same = square.Keys.parse(keys.reveal(), again)
    assert again.deal(same, 1, 2).deals() == boards.deals() and not same.short
    assert keys.reveal().decode()[:20] not in repr(keys) + str(keys)
    other = square.Square()
    other.name, other.info = 'Other', 'something'
    other.add_phase(square.Phase(2, '8', 'x-#', 'y #'))
    other.publish(dealbox.Random())
    assert raises(dealbox.Error, square.Keys.parse, keys.reveal(), other).errno == errno.EBADMSG
    error = raises(dealbox.Error, square.Square.parse, b'TN x\nnonsense\n')
    assert error.line == 2 and str(error).startswith('line 2: ')


def test_laws():
    judge = laws.Judge('nb')
    record = 'rules duplicate-2017\npack\nboard 1\ndirector shuffle\n'
    rulings = judge.record(record)
    error = raises(dealbox.Error, judge.line, 'fly')
    assert error.errno == errno.EINVAL and error.text
    judge = laws.Judge()
    judge.record(record)
    rulings = judge.record('N deal N faceup\nE notes misdeal\n') if not rulings else rulings
    assert rulings and rulings[0].reference and rulings[0].line >= 1
    assert set(dict(rulings[0].sentences)) == set(laws.languages()) == {'nb', 'el', 'fr', 'ru', 'en'}
    assert rulings[0].sentence('el') != rulings[0].sentence()
    assert laws.ruleset('preferans').cards == 32 and laws.ruleset('rubber').name == 'rubber'
    assert len(laws.rulesets()) == 4 and laws.paragraph('duplicate-2017', '6D1').text
    raises(ValueError, laws.ruleset, 'poker')
    assert judge.result.name
    plan = laws.plan_of('preferans', Seat.NORTH)
    # a capture is not by position
    raises(dealbox.Error, judge.trace, dealbox.Plan.capture(0), dealbox.Trace(1))
    lines, rulings = judge.trace(laws.plan_of('duplicate-2017', Seat.NORTH), dealbox.Trace(1))
    assert isinstance(lines, list) and plan.plan_id == 1


def test_an_audit():
    season = audit.Audit()
    first, again = Set(), Set()
    deals = random_deals(40)
    first.extend(deals)
    again.extend(deals)
    season.add(first, 'monday')
    season.add(again, 'tuesday')
    assert len(season) == 80 and season.sets == ['monday', 'tuesday']
    found = season.findings()
    assert found and (found[0].set, found[0].other_set) == ('tuesday', 'monday') and found[0].kind == 'seed'
    assert found[0].deals == 40
    assert len(season.tests()) > 10
    assert all(test.p is None or 0 <= test.p <= 1 for test in season.tests())
    first.marks = dealbox.lib.DEALBOX_MARK_UNPLAYED
    assert raises(dealbox.Error, season.add, first, 'x').errno == errno.EPERM


def test_the_example_audits_a_season():
    def season(*paths):
        return subprocess.run([sys.executable, source / 'docs/examples/season.py', *paths], check=False,
                              capture_output=True, text=True)

    with tempfile.TemporaryDirectory() as folder:
        again, damaged = folder + '/again.pbn', folder + '/damaged.pbn'
        boards = Set.read(EVENING)
        boards.write(again)
        pathlib.Path(damaged).write_text('[Board "1"]\n[Deal "N:x"]\n', encoding='ascii')
        result = season(EVENING)
        assert result.returncode == 0 and '24 deals in 1 files' in result.stdout, result
        result = season(EVENING, again)
        assert result.returncode == 1 and '48 deals in 2 files' in result.stdout, result
        assert '%s, board 1: ' % again in result.stdout and not CARDS.search(result.stdout), result
        # a file that cannot be used is not left out
        result = season(EVENING, damaged)
        assert result.returncode == 1 and damaged in result.stderr and not result.stdout, result
    assert 'usage: ' in season().stderr


def test_no_memory_is_lost():
    """10,000 times each; the first thousand fill pools."""
    data = EVENING.read_bytes()
    deal = dealbox.Random().deal()

    def once():
        boards = Set.parse(data, keep_text=True)
        boards.deals().packed()
        boards[0].deal.reveal()
        with contextlib.suppress(dealbox.Error):
            Set.parse(b'[Board "1"]\n[Deal "N:x"]\n', format='pbn')
        dealbox.verify(dealbox.Plan.by_card(deal), dealbox.Trace(1), capabilities=0).differences
        laws.Judge().record('rules duplicate-2017\n')
        season = audit.Audit()
        season.add(boards, 'x')

    def resident():
        gc.collect()
        return int(pathlib.Path('/proc/self/statm').read_text().split()[1]) * os.sysconf('SC_PAGESIZE')

    for _ in range(1000):
        once()
    before = resident()
    for _ in range(9000):
        once()
    # one page of each hundred calls
    assert resident() - before < 400_000, resident() - before


run(globals())
