# SPDX-License-Identifier: LGPL-2.1-or-later
"""Square Deal: deals that everybody can check after the tournament."""
import dataclasses
from typing import Any, Optional

from ._dealbox import ffi, lib
from .cards import Random
from .core import c_string, check, documented, got, secret, text_of
from .sets import Set


@dataclasses.dataclass(frozen=True)
class Phase:
    sessions: int
    boards: str
    prefix: str
    description: str


@dataclasses.dataclass(frozen=True)
class Session:
    phase: int
    session: int
    reserve: bool
    low: int
    high: int
    file: str
    title: str


class Keys:
    """The keys of a tournament, secret until its last session is over."""
    __slots__ = ('_c',)

    def __init__(self, c: Any) -> None:
        self._c = ffi.gc(c, lib.dealbox_square_keys_free)

    @classmethod
    @documented('dealbox_square_keys_parse')
    def parse(cls, data: bytes, square: 'Optional[Square]' = None) -> 'Keys':
        out, error = ffi.new('struct dealbox_square_keys **'), ffi.new('struct dealbox_error *')
        check(lib.dealbox_square_keys_parse(data, len(data), square._c if square else ffi.NULL, out, ffi.NULL,
                                            error), error=error)
        return cls(out[0])

    @documented('dealbox_square_keys_print')
    def reveal(self) -> bytes:
        size = ffi.new('size_t *')
        text = got(lib.dealbox_square_keys_print(self._c, size))
        try:
            return bytes(ffi.buffer(text, size[0]))
        finally:
            lib.bulk_wipe(text, size[0])
            lib.free(text)

    @property
    @documented('dealbox_square_keys_short')
    def short(self) -> int:
        return int(lib.dealbox_square_keys_short(self._c))

    def __repr__(self) -> str:
        return '<Keys>'


class Square:
    """The description of a tournament."""
    __slots__ = ('_c',)

    @documented('dealbox_square_new')
    def __init__(self) -> None:
        self._c = ffi.gc(got(lib.dealbox_square_new()), lib.dealbox_square_free)

    @classmethod
    @documented('dealbox_square_parse')
    def parse(cls, data: bytes) -> 'Square':
        out, error = ffi.new('struct dealbox_square **'), ffi.new('struct dealbox_error *')
        check(lib.dealbox_square_parse(data, len(data), out, error), error=error)
        self = cls.__new__(cls)
        self._c = ffi.gc(out[0], lib.dealbox_square_free)
        return self

    @documented('dealbox_square_print')
    def print(self) -> str:
        text = got(lib.dealbox_square_print(self._c))
        try:
            return text_of(text)
        finally:
            lib.free(text)

    def _set(self, function: Any, text: str) -> None:
        error = ffi.new('struct dealbox_error *')
        check(function(self._c, c_string(text), error), error=error)

    @property
    def name(self) -> str:
        return text_of(lib.dealbox_square_name(self._c))

    @name.setter
    def name(self, name: str) -> None:
        self._set(lib.dealbox_square_set_name, name)

    @property
    @documented('dealbox_square_info')
    def info(self) -> str:
        return text_of(lib.dealbox_square_info(self._c))

    @info.setter
    def info(self, info: str) -> None:
        self._set(lib.dealbox_square_set_info, info)

    @property
    @documented('dealbox_square_set_value')
    def value(self) -> str:
        return text_of(lib.dealbox_square_value(self._c))

    @value.setter
    def value(self, value: str) -> None:
        self._set(lib.dealbox_square_set_value, value)

    @property
    @documented('dealbox_square_hash')
    def hash(self) -> str:
        return text_of(lib.dealbox_square_hash(self._c))

    @property
    def phases(self) -> 'list[Phase]':
        found = []
        for number in range(1, lib.dealbox_square_phases(self._c) + 1):
            c = ffi.new('struct dealbox_square_phase *')
            check(lib.dealbox_square_get_phase(self._c, number, c))
            found.append(Phase(c.sessions, text_of(c.boards), text_of(c.prefix), text_of(c.description)))
        return found

    @documented('dealbox_square_add_phase')
    def add_phase(self, phase: Phase) -> None:
        strings = [ffi.new('char[]', c_string(text)) for text in (phase.boards, phase.prefix, phase.description)]
        c = ffi.new('struct dealbox_square_phase *', [phase.sessions, *strings])
        error = ffi.new('struct dealbox_error *')
        check(lib.dealbox_square_add_phase(self._c, c, error), error=error)

    @documented('dealbox_square_publish')
    def publish(self, random: Random) -> Keys:
        out, error = ffi.new('struct dealbox_square_keys **'), ffi.new('struct dealbox_error *')
        with random._held() as source:
            check(lib.dealbox_square_publish(self._c, source, out, error), error=error)
        return Keys(out[0])

    @documented('dealbox_square_adopt')
    def adopt(self, keys: Keys) -> None:
        error = ffi.new('struct dealbox_error *')
        check(lib.dealbox_square_adopt(self._c, keys._c, error), error=error)

    def _session(self, phase: int, session: int, reserve: bool, boards: Optional[str]) -> Any:
        c, error = ffi.new('struct dealbox_square_session *'), ffi.new('struct dealbox_error *')
        check(lib.dealbox_square_get_session(self._c, phase, session, reserve, c_string(boards), c, error), error=error)
        return c

    @documented('dealbox_square_get_session')
    def session(self, phase: int, session: int, *, reserve: bool = False, boards: Optional[str] = None) -> Session:
        c = self._session(phase, session, reserve, boards)
        return Session(c.phase, c.session, c.reserve, c.low, c.high, text_of(c.file), text_of(c.title))

    @documented('dealbox_square_deal')
    def deal(self, keys: Keys, phase: int, session: int, *, reserve: bool = False,
             boards: Optional[str] = None) -> Set:
        c, error, new = self._session(phase, session, reserve, boards), secret('struct dealbox_error *'), Set()
        check(lib.dealbox_square_deal(self._c, keys._c, c, new._c, error), error=error)
        return new

    def __repr__(self) -> str:
        return '<Square %s>' % self.name


__all__ = ['Keys', 'Phase', 'Session', 'Square']
