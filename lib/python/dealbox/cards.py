# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cards, seats, packs, and deals. A deal shows its cards only to who calls reveal()."""
import contextlib
import enum
import os
import threading
import weakref
from typing import Any, Iterator, List, NoReturn, Optional, Union

from ._dealbox import ffi, lib
from .core import Error, Single, c_string, check, documented, secret, text_of


class Seat(enum.IntEnum):
    NORTH = lib.DEALBOX_NORTH
    EAST = lib.DEALBOX_EAST
    SOUTH = lib.DEALBOX_SOUTH
    WEST = lib.DEALBOX_WEST

    @property
    def letter(self) -> str:
        letter: bytes = lib.dealbox_seat_letter(self)
        return letter.decode()

    @property
    def title(self) -> str:
        return text_of(lib.dealbox_seat_name(self))

    @classmethod
    @documented('dealbox_seat_parse')
    def parse(cls, letter: str) -> 'Seat':
        return cls(check(lib.dealbox_seat_parse(letter.encode() if len(letter.encode()) == 1 else b'?'), 'not a seat'))


class Vulnerable(enum.IntEnum):
    NONE = lib.DEALBOX_VULNERABLE_NONE
    NS = lib.DEALBOX_VULNERABLE_NS
    EW = lib.DEALBOX_VULNERABLE_EW
    ALL = lib.DEALBOX_VULNERABLE_ALL

    @property
    def title(self) -> str:
        return text_of(lib.dealbox_vulnerable_name(self))


def _number(number: Any) -> int:
    return int(number.high) << 64 | int(number.low)


class Numbering(enum.IntEnum):
    BIGDEAL = lib.DEALBOX_NUMBERING_BIGDEAL
    ANDREWS = lib.DEALBOX_NUMBERING_ANDREWS
    PAVLICEK = lib.DEALBOX_NUMBERING_PAVLICEK

    @property
    def title(self) -> str:
        return text_of(lib.dealbox_numbering_name(self))

    @classmethod
    @documented('dealbox_numbering_find')
    def find(cls, name: str) -> 'Numbering':
        return cls(check(lib.dealbox_numbering_find(c_string(name)), 'there is no such numbering'))

    @property
    def first(self) -> int:
        return _number(lib.dealbox_number_first(self))

    @property
    @documented('dealbox_number_last')
    def last(self) -> int:
        return _number(lib.dealbox_number_last(self))


@documented('dealbox_card_name')
def card_name(card: int) -> str:
    return text_of(lib.dealbox_card_name(card if 0 <= card < lib.DEALBOX_CARD_NONE else lib.DEALBOX_CARD_NONE))


@documented('dealbox_card_parse')
def parse_card(name: str) -> int:
    return check(lib.dealbox_card_parse(c_string(name)), 'not a card')


@documented('dealbox_board_dealer')
def dealer_of(board: int) -> Seat:
    return Seat(check(lib.dealbox_board_dealer(board), 'not a board'))


@documented('dealbox_board_vulnerable')
def vulnerable_of(board: int) -> Vulnerable:
    return Vulnerable(check(lib.dealbox_board_vulnerable(board), 'not a board'))


@documented('dealbox_number_parse')
def parse_number(text: str) -> int:
    number = ffi.new('struct dealbox_number *')
    check(lib.dealbox_number_parse(c_string(text), number), 'not a number of a deal')
    return _number(number)


class Pack:
    """The cards that exist, and the size of each hand."""
    __slots__ = ('_c',)

    def __init__(self, name: str = 'bridge') -> None:
        self._c = lib.dealbox_pack_find(c_string(name))
        if self._c == ffi.NULL:
            raise ValueError('there is no such pack')

    @property
    def name(self) -> str:
        return text_of(self._c.name)

    @property
    def cards(self) -> 'Cards':
        return Cards(self._c.cards)

    @property
    def sizes(self) -> List[int]:
        return list(self._c.size)[:self._c.hands]

    @documented('dealbox_pack_sorted')
    def sorted(self) -> bytes:
        deck = ffi.new('uint8_t[64]')
        return bytes(ffi.buffer(deck)[:lib.dealbox_pack_sorted(self._c, deck)])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pack) and bool(self._c == other._c)

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return '<Pack %s>' % self.name


BRIDGE = Pack('bridge')
PREFERANS = Pack('preferans')


class Cards:
    """A set of cards, as numbers. mask: bit n = card n."""
    __slots__ = ('mask',)

    def __init__(self, mask: int = 0) -> None:
        if not 0 <= mask < 1 << 64:
            raise ValueError('not a set of cards')
        self.mask = mask

    def __len__(self) -> int:
        return int(lib.dealbox_cards_count(self.mask))

    def __iter__(self) -> Iterator[int]:
        return (card for card in range(64) if self.mask >> card & 1)

    def __contains__(self, card: object) -> bool:
        return isinstance(card, int) and 0 <= card < 64 and bool(self.mask >> card & 1)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cards) and self.mask == other.mask

    def __hash__(self) -> int:
        return hash(self.mask)

    def __copy__(self) -> 'Cards':
        return Cards(self.mask)

    def __deepcopy__(self, memo: Any) -> 'Cards':
        return self.__copy__()

    def __reduce__(self) -> NoReturn:
        raise TypeError('cards are secret, and not pickled')

    @documented('dealbox_cards_format')
    def reveal(self) -> str:
        text = secret('char[%d]' % lib.DEALBOX_CARDS_TEXT)
        lib.dealbox_cards_format(self.mask, text)
        return text_of(text)

    def __repr__(self) -> str:
        return '<%d cards>' % len(self)


class Defect:
    """One defect of a deal: kind is the word of a problem of files, such as card-repeated."""
    __slots__ = ('_c',)
    KINDS = {kind: text_of(lib.dealbox_code_name(code)) for kind, code in (
        (lib.DEALBOX_DEFECT_REPEATED, lib.DEALBOX_CODE_CARD_REPEATED),
        (lib.DEALBOX_DEFECT_MISSING, lib.DEALBOX_CODE_CARD_MISSING),
        (lib.DEALBOX_DEFECT_FOREIGN, lib.DEALBOX_CODE_CARD_FOREIGN),
        (lib.DEALBOX_DEFECT_SIZE, lib.DEALBOX_CODE_HAND_SIZE))}

    def __init__(self, c: Any) -> None:
        self._c = c

    @property
    def kind(self) -> str:
        return self.KINDS.get(self._c.kind, '?')

    @property
    def card(self) -> Optional[int]:
        return self._c.card if self._c.card != lib.DEALBOX_CARD_NONE else None

    @property
    def hands(self) -> List[int]:
        if self._c.kind == lib.DEALBOX_DEFECT_SIZE:
            return [self._c.hand]
        return [hand for hand in range(lib.DEALBOX_HANDS) if self._c.hands >> hand & 1]

    @property
    def count(self) -> int:
        return int(self._c.count)

    @property
    def expected(self) -> int:
        return int(self._c.expected)

    def __repr__(self) -> str:
        return '<Defect: %s>' % self.kind


class Deal:
    """Who holds which card. Its memory is wiped when it is freed."""
    __slots__ = ('_c',)

    @documented('dealbox_deal_parse')
    def __init__(self, text: Optional[str] = None) -> None:
        self._c = secret('struct dealbox_deal *')
        if text is not None:
            # not from None alone: the text must not be seen in the exception
            check(lib.dealbox_deal_parse(c_string(text), self._c), 'not a deal')

    @classmethod
    def _of(cls, c: Any) -> 'Deal':
        deal = cls()
        deal._c[0] = c
        return deal

    @classmethod
    def of_hands(cls, hands: 'List[Cards]') -> 'Deal':
        if len(hands) != lib.DEALBOX_HANDS:
            raise ValueError('a deal has four hands')
        deal = cls()
        for n, hand in enumerate(hands):
            deal._c.hand[n] = hand.mask
        return deal

    @classmethod
    @documented('dealbox_number_unrank')
    def of_number(cls, number: int, numbering: Numbering = Numbering.BIGDEAL) -> 'Deal':
        deal = cls()
        if not 0 <= number < 1 << 128:
            raise ValueError('no deal has that number')
        if not lib.bulk_unrank(number.to_bytes(16, 'little'), 1, numbering, deal._c):
            raise ValueError('no deal has that number')
        return deal

    @documented('dealbox_number_rank')
    def number(self, numbering: Numbering = Numbering.BIGDEAL) -> int:
        number = secret('uint8_t[16]')
        if not lib.bulk_rank(self._c, 1, numbering, number):
            raise ValueError('not a complete deal of bridge')
        return int.from_bytes(ffi.buffer(number)[:], 'little')

    def hand(self, seat: Union[Seat, int]) -> Cards:
        """The cards of a seat; of preferans, 3 is the talon."""
        if not 0 <= seat < lib.DEALBOX_HANDS:
            raise ValueError('not a hand')
        return Cards(self._c.hand[seat])

    @property
    def hands(self) -> List[Cards]:
        return [Cards(hand) for hand in self._c.hand]

    @documented('dealbox_deal_complete')
    def complete(self, pack: Pack = BRIDGE) -> bool:
        return bool(lib.dealbox_deal_complete(self._c, pack._c))

    @documented('dealbox_deal_check')
    def check(self, pack: Pack = BRIDGE) -> List[Defect]:
        defects = [secret('struct dealbox_defect *') for _ in range(lib.DEALBOX_DEFECTS_MAX)]
        array = secret('struct dealbox_defect[]', len(defects))
        count = lib.dealbox_deal_check(self._c, pack._c, array, len(defects))
        for n in range(count):
            defects[n][0] = array[n]
        return [Defect(c) for c in defects[:count]]

    @documented('dealbox_deal_holder')
    def holder(self, card: int) -> Optional[int]:
        hand = lib.dealbox_deal_holder(self._c, card)
        return hand if hand >= 0 else None

    @documented('dealbox_deal_format')
    def reveal(self, first: Seat = Seat.NORTH) -> str:
        text = secret('char[%d]' % lib.DEALBOX_DEAL_TEXT)
        lib.dealbox_deal_format(self._c, Seat(first), text)
        return text_of(text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Deal) and list(self._c.hand) == list(other._c.hand)

    def __hash__(self) -> int:
        return hash(tuple(self._c.hand))

    def __copy__(self) -> 'Deal':
        return Deal._of(self._c[0])

    def __deepcopy__(self, memo: Any) -> 'Deal':
        return self.__copy__()

    def __reduce__(self) -> NoReturn:
        raise TypeError('a deal is secret, and not pickled')

    def __repr__(self) -> str:
        return '<Deal>'


class Random(Single):
    """A source of random deals. Threads may share it; a process that is forked gets a source of its own."""
    __slots__ = ('_source', '_lock', '_process', '__weakref__')
    _all: 'weakref.WeakSet[Random]' = weakref.WeakSet()

    @documented('dealbox_random_new')
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._renew()
        self._all.add(self)

    @classmethod
    def _forked(cls) -> None:
        """The threads that hold locks are not in this process."""
        for source in cls._all:
            source._lock = threading.Lock()

    def _renew(self) -> None:
        out = ffi.new('struct dealbox_random **')
        check(lib.dealbox_random_new(out), 'this computer has no random numbers')
        self._source = ffi.gc(out[0], lib.dealbox_random_free)
        self._process = os.getpid()

    @contextlib.contextmanager
    def _held(self) -> Iterator[Any]:
        """The source, for one thread; with that of before fork(2), two processes would deal the same."""
        with self._lock:
            if self._process != os.getpid():
                self._renew()
            yield self._source

    @documented('dealbox_random_deal')
    def deal(self, pack: Pack = BRIDGE, fixed: Optional[Deal] = None) -> Deal:
        deal = Deal()
        with self._held() as source:
            check(lib.dealbox_random_deal(source, pack._c, fixed._c if fixed else ffi.NULL, deal._c),
                  'such a deal is not possible')
        return deal

    @documented('dealbox_random_bytes')
    def bytes(self, size: int) -> bytes:
        buffer = secret('uint8_t[]', size)
        with self._held() as source:
            lib.dealbox_random_bytes(source, buffer, size)
        return bytes(ffi.buffer(buffer))

    @documented('dealbox_random_deals')
    def deals(self, count: int, threads: int = 1) -> 'Deals':
        deals = Deals(count)
        with self._held() as source:
            lib.dealbox_random_deals(source, deals._c, count, threads)
        return deals


os.register_at_fork(after_in_child=Random._forked)


class Deals:
    """
    Many deals of bridge in one array, with no object of Python for each. Arrays go in and out by the
    buffer protocol (bytes, memoryview, numpy):

    hands    32 bytes a deal: the four hands N, E, S, W, 64 bits each, bit n = card n
    seats    52 bytes a deal: the seat of each card, 0..3 = N, E, S, W
    packed   13 bytes a deal: the same in two bits a card, the lowest bits first
    numbers  16 bytes a deal: its number, little-endian

    What goes in is checked: ValueError says which one is no deal.
    """
    __slots__ = ('_c',)

    def __init__(self, count: int = 0) -> None:
        """Empty hands."""
        self._c = secret('struct dealbox_deal[]', count)

    def __len__(self) -> int:
        return len(self._c)

    def __getitem__(self, index: int) -> Deal:
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        return Deal._of(self._c[index % len(self)])

    def __iter__(self) -> Iterator[Deal]:
        return (self[n] for n in range(len(self)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Deals) and ffi.buffer(self._c)[:] == ffi.buffer(other._c)[:]

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return '<%d deals>' % len(self)

    @classmethod
    def _from(cls, data: Any, size: int, convert: Any, *more: Any) -> 'Deals':
        """size: bytes of a deal in data."""
        array = ffi.from_buffer('uint8_t[]', data)
        if len(array) % size:
            raise ValueError('not a number of whole deals')
        deals = cls(len(array) // size)
        count = convert(array, len(deals), *more, deals._c)
        if count < len(deals):
            raise ValueError('number %d is not a deal' % count)
        return deals

    def _to(self, size: int, convert: Any, *more: Any) -> bytearray:
        data = bytearray(size * len(self))
        count = convert(self._c, len(self), *more, ffi.from_buffer('uint8_t[]', data))
        if count < len(self):
            raise ValueError('number %d is not a complete deal' % count)
        return data

    @classmethod
    def from_hands(cls, data: Any) -> 'Deals':
        array = ffi.from_buffer('uint8_t[]', data)
        if len(array) % ffi.sizeof('struct dealbox_deal'):
            raise ValueError('not a number of whole deals')
        deals = cls(len(array) // ffi.sizeof('struct dealbox_deal'))
        ffi.memmove(deals._c, array, len(array))
        complete = deals.complete()
        if 0 in complete:
            raise ValueError('number %d is not a deal' % complete.index(0))
        return deals

    @property
    def hands(self) -> memoryview:
        """Four numbers of 64 bits for each deal. It shows the cards, and is no copy."""
        return memoryview(ffi.buffer(self._c)).toreadonly().cast('Q')

    @classmethod
    def from_seats(cls, data: Any) -> 'Deals':
        return cls._from(data, 52, lib.bulk_from_seats)

    def seats(self) -> bytearray:
        return self._to(52, lib.bulk_to_seats)

    @classmethod
    def from_packed(cls, data: Any) -> 'Deals':
        return cls._from(data, 13, lib.bulk_unpack)

    def packed(self) -> bytearray:
        return self._to(13, lib.bulk_pack)

    @classmethod
    @documented('dealbox_number_unrank')
    def from_numbers(cls, data: Any, numbering: Numbering = Numbering.BIGDEAL) -> 'Deals':
        return cls._from(data, 16, lib.bulk_unrank, numbering)

    @documented('dealbox_number_rank')
    def numbers(self, numbering: Numbering = Numbering.BIGDEAL) -> bytearray:
        return self._to(16, lib.bulk_rank, numbering)

    @documented('dealbox_deal_complete')
    def complete(self, pack: Pack = BRIDGE) -> bytearray:
        """1 for each deal that is complete, 0 for others."""
        out = bytearray(len(self))
        lib.bulk_complete(self._c, len(self), pack._c, ffi.from_buffer('uint8_t[]', out))
        return out


class BigDeal:
    """The deals of the program Big Deal, in order."""
    __slots__ = ('_c',)

    @documented('dealbox_bigdeal_new')
    def __init__(self, owner: bytes, entropy: bytes) -> None:
        out = ffi.new('struct dealbox_bigdeal **')
        check(lib.dealbox_bigdeal_new(owner, len(owner), entropy, len(entropy), out))
        self._c = ffi.gc(out[0], lib.dealbox_bigdeal_free)

    @classmethod
    @documented('dealbox_bigdeal_new_hashed')
    def hashed(cls, owner: bytes, entropy: bytes) -> 'BigDeal':
        if len(entropy) != lib.DEALBOX_BIGDEAL_HASH:
            raise ValueError('not a hash')
        self = cls.__new__(cls)
        out = ffi.new('struct dealbox_bigdeal **')
        check(lib.dealbox_bigdeal_new_hashed(owner, len(owner), entropy, out))
        self._c = ffi.gc(out[0], lib.dealbox_bigdeal_free)
        return self

    @documented('dealbox_bigdeal_deal')
    def deal(self) -> Deal:
        deal = Deal()
        check(lib.dealbox_bigdeal_deal(self._c, deal._c), 'the sequence has ended')
        return deal

    @documented('dealbox_bigdeal_deals')
    def deals(self, count: int, threads: int = 1) -> Deals:
        deals = Deals(count)
        check(lib.dealbox_bigdeal_deals(self._c, deals._c, count, threads), 'the sequence has ended')
        return deals


__all__ = ['BRIDGE', 'BigDeal', 'Cards', 'Deal', 'Deals', 'Defect', 'Error', 'Numbering', 'PREFERANS', 'Pack',
           'Random', 'Seat', 'Vulnerable', 'card_name', 'dealer_of', 'parse_card', 'parse_number',
           'vulnerable_of']
