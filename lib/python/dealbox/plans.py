# SPDX-License-Identifier: LGPL-2.1-or-later
"""Plans, events, traces, and verdicts."""
import enum
from typing import Any, Iterator, List, Optional

from ._dealbox import ffi, lib
from .cards import BRIDGE, Deal, Pack
from .core import Facts, c_string, check, documented, got, secret, text_of, written


class EventClass(enum.IntEnum):
    """What an event is about; UNKNOWN, too, for classes of a later library."""
    UNKNOWN = lib.DEALBOX_EVENT_UNKNOWN
    MACHINE = lib.DEALBOX_EVENT_MACHINE
    DEAL = lib.DEALBOX_EVENT_DEAL
    HELD = lib.DEALBOX_EVENT_HELD
    VOID = lib.DEALBOX_EVENT_VOID
    DRIVER = lib.DEALBOX_EVENT_DRIVER

    @classmethod
    def _missing_(cls, value: object) -> 'EventClass':
        return cls.UNKNOWN


class Basis(enum.IntEnum):
    """What a verdict rests on; NONE, too, for what only a later library knows."""
    NONE = lib.DEALBOX_BASIS_NONE
    GATES = lib.DEALBOX_BASIS_GATES
    SENSORS = lib.DEALBOX_BASIS_SENSORS
    HAND = lib.DEALBOX_BASIS_HAND

    @classmethod
    def _missing_(cls, value: object) -> 'Basis':
        return cls.NONE


class Plan:
    """The pocket of each card, as a machine gets it."""
    __slots__ = ('_c', '_deck')

    def __init__(self, c: Any, deck: Optional[bytes] = None) -> None:
        self._c, self._deck = c, deck

    @staticmethod
    def _pockets(order: str) -> Any:
        pockets = ffi.new('uint8_t[]', lib.DEALBOX_HANDS)
        check(lib.dealbox_pockets_parse(c_string(order), pockets), 'not an order of pockets')
        return pockets

    @classmethod
    @documented('dealbox_plan_by_card')
    def by_card(cls, deal: Deal, plan_id: int = 1, *, pack: Pack = BRIDGE, pockets: str = 'NESW') -> 'Plan':
        """pockets: the seats whose hands pockets 0, 1, 2, 3 get."""
        c = secret('struct dealbox_plan *')
        check(lib.dealbox_plan_by_card(c, plan_id, deal._c, pack._c, cls._pockets(pockets)),
              'no plan can be made of that')
        return cls(c)

    @classmethod
    @documented('dealbox_plan_by_position')
    def by_position(cls, deal: Deal, deck: bytes, plan_id: int = 1, *, pack: Pack = BRIDGE,
                    pockets: str = 'NESW') -> 'Plan':
        """deck: the cards in the order in which they are fed, such as pack.sorted()."""
        c = secret('struct dealbox_plan *')
        check(lib.dealbox_plan_by_position(c, plan_id, deal._c, pack._c, cls._pockets(pockets), deck, len(deck)),
              'no plan can be made of that')
        return cls(c, bytes(deck))

    @classmethod
    @documented('dealbox_plan_capture')
    def capture(cls, pocket: int, plan_id: int = 1) -> 'Plan':
        c = secret('struct dealbox_plan *')
        check(lib.dealbox_plan_capture(c, plan_id, pocket), 'no plan can be made of that')
        return cls(c)

    @property
    def plan_id(self) -> int:
        return int(self._c.plan_id)

    def __repr__(self) -> str:
        return '<Plan %d>' % self.plan_id


@documented('dealbox_event')
class Event(Facts):
    """card, pocket, position, code and arg may reveal a card, and are not in repr()."""
    __slots__ = ()

    @classmethod
    def _of(cls, c: Any) -> 'Event':
        own = secret('struct dealbox_event *')
        own[0] = c
        return cls(own)

    @property
    @documented('dealbox_event_name')
    def name(self) -> str:
        return text_of(lib.dealbox_event_name(self._c.type))

    @property
    @documented('dealbox_event_stops')
    def stops(self) -> bool:
        return bool(lib.dealbox_event_stops(self._c.type))

    @property
    @documented('dealbox_event_classify')
    def event_class(self) -> EventClass:
        return EventClass(lib.dealbox_event_classify(self._c.type))

    @property
    @documented('dealbox_event_code_open')
    def code_open(self) -> bool:
        return bool(lib.dealbox_event_code_open(self._c.type))

    @property
    @documented('dealbox_event_detail')
    def detail(self) -> str:
        return written(lib.dealbox_event_detail, self._c)

    def __repr__(self) -> str:
        return '<Event %d: %s>' % (self._c.seqno, self.name)


class Trace:
    """All events of one insertion."""
    __slots__ = ('_c',)

    @documented('dealbox_trace_new')
    def __init__(self, insertion: int) -> None:
        self._c = ffi.gc(got(lib.dealbox_trace_new(insertion)), lib.dealbox_trace_free)

    @documented('dealbox_trace_add')
    def add(self, event: Event) -> bool:
        return bool(check(lib.dealbox_trace_add(self._c, event._c), 'the trace is full'))

    @property
    def insertion(self) -> int:
        return int(lib.dealbox_trace_insertion(self._c))

    @property
    @documented('dealbox_trace_gap')
    def gap(self) -> bool:
        return bool(lib.dealbox_trace_gap(self._c))

    def __len__(self) -> int:
        return int(lib.dealbox_trace_count(self._c))

    @documented('dealbox_trace_get')
    def __getitem__(self, index: int) -> Event:
        c = lib.dealbox_trace_get(self._c, index) if index >= 0 else ffi.NULL
        if c == ffi.NULL:
            raise IndexError(index)
        return Event._of(c[0])

    def __iter__(self) -> Iterator[Event]:
        return (self[n] for n in range(len(self)))

    def __repr__(self) -> str:
        return '<Trace of insertion %d: %d events>' % (self.insertion, len(self))


@documented('dealbox_difference')
class Difference(Facts):
    __slots__ = ()

    @property
    @documented('dealbox_difference_name')
    def name(self) -> str:
        return text_of(lib.dealbox_difference_name(self._c.kind))

    @documented('dealbox_difference_message')
    def reveal(self) -> str:
        return written(lib.dealbox_difference_message, self._c, True)

    @documented('dealbox_difference_message')
    def __str__(self) -> str:
        return written(lib.dealbox_difference_message, self._c, False)

    def __repr__(self) -> str:
        return '<Difference: %s>' % self


class Verdict:
    """True if the board is an exact duplicate of the plan; in doubt it is not."""
    __slots__ = ('_c',)

    def __init__(self, c: Any) -> None:
        self._c = ffi.gc(c, lib.dealbox_verdict_free)

    @property
    @documented('dealbox_verdict_exact')
    def exact(self) -> bool:
        return bool(lib.dealbox_verdict_exact(self._c))

    def __bool__(self) -> bool:
        return self.exact

    @property
    @documented('dealbox_verdict_basis')
    def basis(self) -> Basis:
        return Basis(lib.dealbox_verdict_basis(self._c))

    @property
    @documented('dealbox_verdict_identified')
    def identified(self) -> bool:
        return bool(lib.dealbox_verdict_identified(self._c))

    @property
    @documented('dealbox_verdict_get')
    def differences(self) -> List[Difference]:
        found = []
        for n in range(lib.dealbox_verdict_count(self._c)):
            own = secret('struct dealbox_difference *')
            own[0] = lib.dealbox_verdict_get(self._c, n)[0]
            found.append(Difference(own))
        return found

    @documented('dealbox_verdict_message')
    def __str__(self) -> str:
        return written(lib.dealbox_verdict_message, self._c)

    def __repr__(self) -> str:
        return '<Verdict: %s>' % self


@documented('dealbox_verify_machine')
def verify(plan: Plan, trace: Trace, *, capabilities: int) -> Verdict:
    """capabilities: those of the machine that dealt, machine.info().capabilities."""
    out = ffi.new('struct dealbox_verdict **')
    deck = ffi.NULL if plan._deck is None else plan._deck
    check(lib.dealbox_verify_machine(plan._c, deck, capabilities, trace._c, out), 'not a plan')
    return Verdict(out[0])


__all__ = ['Basis', 'Difference', 'Event', 'EventClass', 'Plan', 'Trace', 'Verdict', 'verify']
