# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sets of boards, and the files that they are read from and written to."""
import dataclasses
import errno
import os
from typing import TYPE_CHECKING, Any, Iterator, List, Optional, Union

from ._dealbox import ffi, lib
from .cards import BRIDGE, Cards, Deal, Deals, Pack, Seat, Vulnerable
from .core import Error, c_string, check, documented, got, path_of, secret, text_of, written

if TYPE_CHECKING:
    import pandas  # type: ignore[import]


@dataclasses.dataclass(frozen=True)
class Format:
    name: str
    title: str
    writable: bool


@documented('dealbox_format_get')
def formats() -> List[Format]:
    found: List[Format] = []
    while (c := lib.dealbox_format_get(len(found))) != ffi.NULL:
        found.append(Format(text_of(lib.dealbox_format_name(c)), text_of(lib.dealbox_format_title(c)),
                            bool(lib.dealbox_format_writable(c))))
    return found


@documented('dealbox_format_recognise')
def recognise(data: bytes, path: Optional[str] = None, total: Optional[int] = None) -> Optional[str]:
    c = lib.dealbox_format_recognise(data, len(data), len(data) if total is None else total, c_string(path))
    return text_of(lib.dealbox_format_name(c)) if c != ffi.NULL else None


def _format(name: Optional[str]) -> Any:
    if name is None:
        return ffi.NULL
    c = lib.dealbox_format_find(c_string(name))
    if c == ffi.NULL:
        raise ValueError('there is no format %s' % name)
    return c


class Problem:
    """Something that was found in a file or a set. Only reveal() names cards."""
    __slots__ = ('_c', '_file')

    def __init__(self, c: Any) -> None:
        self._file = c.file if c.file == ffi.NULL else ffi.new('char[]', ffi.string(c.file))
        self._c = secret('struct dealbox_problem *')
        self._c[0] = c[0]
        self._c.file = self._file

    @property
    def code(self) -> str:
        return text_of(lib.dealbox_code_name(self._c.code))

    @property
    def is_note(self) -> bool:
        """True if nothing was lost by it."""
        return bool(self._c.severity == lib.DEALBOX_SEVERITY_NOTE)

    @property
    def file(self) -> str:
        return text_of(self._c.file)

    @property
    def line(self) -> int:
        return int(self._c.line)

    @property
    def byte(self) -> int:
        return int(self._c.byte)

    @property
    def board(self) -> str:
        return text_of(self._c.board)

    @property
    @documented('dealbox_problem_message')
    def message(self) -> str:
        return written(lib.dealbox_problem_message, self._c, False)

    @documented('dealbox_problem_describe')
    def reveal(self) -> str:
        return written(lib.dealbox_problem_describe, self._c, True)

    @documented('dealbox_problem_describe')
    def __str__(self) -> str:
        return written(lib.dealbox_problem_describe, self._c, False)

    def __repr__(self) -> str:
        return '<Problem: %s>' % self


class Report:
    """The problems that were found."""
    __slots__ = ('_c',)

    @documented('dealbox_report_new')
    def __init__(self) -> None:
        self._c = ffi.gc(got(lib.dealbox_report_new()), lib.dealbox_report_free)

    def __len__(self) -> int:
        return int(lib.dealbox_report_count(self._c))

    @documented('dealbox_report_get')
    def __getitem__(self, index: int) -> Problem:
        c = lib.dealbox_report_get(self._c, index) if index >= 0 else ffi.NULL
        if c == ffi.NULL:
            raise IndexError(index)
        return Problem(c)

    def __iter__(self) -> Iterator[Problem]:
        return (self[n] for n in range(len(self)))

    @documented('dealbox_report_found')
    def found(self, notes: bool = False) -> int:
        severity = lib.DEALBOX_SEVERITY_NOTE if notes else lib.DEALBOX_SEVERITY_PROBLEM
        return int(lib.dealbox_report_found(self._c, severity))

    def _fail(self, code: int) -> Error:
        """The first problem, and how many there are."""
        problems = tuple(self)
        first = next((str(problem) for problem in problems if not problem.is_note), os.strerror(code))
        more = self.found() - 1
        return Error(code, first + (' (and %d more)' % more if more > 0 else ''), problems=problems)

    def __repr__(self) -> str:
        return '<Report: %d problems>' % self.found()


@dataclasses.dataclass(frozen=True, repr=False)
class Board:
    """One deal of a set, with its place. A board has a number (0: none) or a label."""
    deal: Deal
    number: int = 0
    label: Optional[str] = None
    dealer: Optional[Seat] = None
    vulnerable: Optional[Vulnerable] = None
    file: Optional[str] = None
    line: int = 0

    @property
    def name(self) -> str:
        return str(self.number) if self.number else self.label or ''

    def __repr__(self) -> str:
        return '<Board %s>' % self.name if self.name else '<Board>'


def _board_of(c: Any) -> Board:
    return Board(Deal._of(c.deal), c.number, text_of(c.label) if c.label != ffi.NULL else None,
                 Seat(c.dealer) if c.dealer >= 0 else None,
                 Vulnerable(c.vulnerable) if c.vulnerable >= 0 else None,
                 text_of(c.file) if c.file != ffi.NULL else None, c.line)


class Set:
    """The deals of one session: complete deals only, in the order in which they were added."""
    __slots__ = ('_c', 'report', '_pack')

    @documented('dealbox_set_new')
    def __init__(self, pack: Pack = BRIDGE) -> None:
        self._c = ffi.gc(got(lib.dealbox_set_new(pack._c)), lib.dealbox_set_free)
        self._pack = pack
        self.report = Report()

    @classmethod
    def _read(cls, read: Any, pack: Pack, strict: bool, keep_text: bool, number_from: int) -> 'Set':
        new = cls(pack)
        if keep_text:
            lib.dealbox_set_keep_text(new._c)
        if number_from:
            lib.dealbox_set_number_from(new._c, number_from)
        code = read(new)
        if code < 0:
            raise new.report._fail(-code)
        if strict:
            check(lib.dealbox_set_check(new._c, new.report._c))
            if new.report.found():
                raise new.report._fail(errno.EBADMSG)
        return new

    @classmethod
    @documented('dealbox_format_read_file')
    def read(cls, path: 'os.PathLike[str] | str', *, format: Optional[str] = None, pack: Pack = BRIDGE,
             strict: bool = True, keep_text: bool = False, number_from: int = 0) -> 'Set':
        """
        strict: a file with any problem is refused, and so is a set that dealbox_set_check() finds
        fault with. Otherwise set.report has what was found, and the set what was usable.
        """
        return cls._read(lambda new: lib.dealbox_format_read_file(
            _format(format), path_of(path), new._c, new.report._c, ffi.NULL), pack, strict, keep_text, number_from)

    @classmethod
    @documented('dealbox_format_read_memory')
    def parse(cls, data: Any, *, name: str = 'memory', format: Optional[str] = None, pack: Pack = BRIDGE,
              strict: bool = True, keep_text: bool = False, number_from: int = 0) -> 'Set':
        """data: bytes, or another buffer."""
        array = ffi.from_buffer('char[]', data)
        return cls._read(lambda new: lib.dealbox_format_read_memory(
            _format(format), array, len(array), c_string(name), new._c, new.report._c, ffi.NULL),
            pack, strict, keep_text, number_from)

    def _writer(self, path: 'os.PathLike[str] | str', format: Optional[str]) -> Any:
        c = _format(format) if format else lib.dealbox_format_by_suffix(path_of(path))
        if c == ffi.NULL:
            raise ValueError('no format has that suffix')
        return c

    @documented('dealbox_format_write_file')
    def write(self, path: 'os.PathLike[str] | str', *, format: Optional[str] = None) -> None:
        """format: by default that of the suffix."""
        report = Report()
        code = lib.dealbox_format_write_file(self._writer(path, format), self._c, path_of(path), report._c)
        if code < 0:
            raise report._fail(-code)

    @documented('dealbox_format_write_fd')
    def to_bytes(self, format: str) -> bytes:
        report = Report()
        # not on a disk: the deals may be secret
        with os.fdopen(os.memfd_create('dealbox', os.MFD_CLOEXEC), 'rb') as file:
            code = lib.dealbox_format_write_fd(_format(format), self._c, file.fileno(), b'memory', report._c)
            if code < 0:
                raise report._fail(-code)
            file.seek(0)
            return file.read()

    @property
    def pack(self) -> Pack:
        return self._pack

    @property
    def marks(self) -> int:
        """DEALBOX_MARK_RESTRICTED | DEALBOX_MARK_UNPLAYED"""
        return int(lib.dealbox_set_marks(self._c))

    @marks.setter
    def marks(self, marks: int) -> None:
        check(lib.dealbox_set_mark(self._c, marks), 'an unknown mark')

    def __len__(self) -> int:
        return int(lib.dealbox_set_count(self._c))

    @documented('dealbox_set_get')
    def __getitem__(self, index: int) -> Board:
        if index < 0:
            index += len(self)
        c = secret('struct dealbox_board *')
        if index < 0 or lib.dealbox_set_get(self._c, index, c):
            raise IndexError(index)
        return _board_of(c)

    def __iter__(self) -> Iterator[Board]:
        return (self[n] for n in range(len(self)))

    @documented('dealbox_set_find')
    def board(self, number: int) -> Board:
        index = lib.dealbox_set_find(self._c, number)
        if index < 0:
            raise KeyError(number)
        return self[index]

    @documented('dealbox_set_add')
    def add(self, board: Union[Board, Deal], number: int = 0) -> None:
        """A board, or a deal as board number."""
        if isinstance(board, Deal):
            board = Board(board, number)
        c = secret('struct dealbox_board *')
        label = ffi.new('char[]', c_string(board.label)) if board.label is not None else ffi.NULL
        file = ffi.new('char[]', path_of(board.file)) if board.file is not None else ffi.NULL
        c.deal, c.number, c.label, c.file, c.line = board.deal._c[0], board.number, label, file, board.line
        c.dealer = -1 if board.dealer is None else board.dealer
        c.vulnerable = -1 if board.vulnerable is None else board.vulnerable
        check(lib.dealbox_set_add(self._c, c), 'not a board of this set')

    def extend(self, deals: Deals, first: int = 1) -> None:
        """Adds the deals as boards first, first + 1 ..; all of them, or none."""
        check(lib.bulk_add(self._c, deals._c, len(deals), first), 'not boards of this set')

    def deals(self) -> Deals:
        """All deals in one array."""
        deals = Deals(len(self))
        lib.bulk_get(self._c, deals._c, len(deals))
        return deals

    @documented('dealbox_set_check')
    def check(self) -> List[Problem]:
        report = Report()
        check(lib.dealbox_set_check(self._c, report._c))
        return list(report)

    @documented('dealbox_pbn_put_tags')
    def put_tags(self, index: int, tags: str) -> None:
        check(lib.dealbox_pbn_put_tags(self._c, index, c_string(tags)), 'there is no such board')

    def frame(self, *, reveal: bool = False) -> 'pandas.DataFrame':
        """
        A table of pandas with a row for each board. Only with reveal it has the hands, because
        pandas prints what it has.
        """
        import pandas

        boards = list(self)
        columns = {'number': [board.number for board in boards],
                   'name': [board.name for board in boards],
                   'dealer': [None if board.dealer is None else board.dealer.letter for board in boards],
                   'vulnerable': [None if board.vulnerable is None else board.vulnerable.title
                                  for board in boards],
                   'file': [board.file for board in boards],
                   'line': [board.line for board in boards]}
        if reveal:
            for hand in range(self._pack._c.hands):
                name = ['north', 'east', 'south', 'west'][hand]
                columns[name] = [board.deal.hand(hand).reveal() for board in boards]
        return pandas.DataFrame(columns)

    def __repr__(self) -> str:
        return '<Set of %d boards>' % len(self)


__all__ = ['Board', 'Cards', 'Format', 'Problem', 'Report', 'Set', 'formats', 'recognise']
