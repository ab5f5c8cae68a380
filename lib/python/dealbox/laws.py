# SPDX-License-Identifier: LGPL-2.1-or-later
"""The laws of dealing: rulings on a record, as docs/law-record.md defines it."""
import dataclasses
from typing import Any, Callable, List, Optional, Tuple

from ._dealbox import ffi, lib
from .core import Facts, Single, c_string, check, documented, got, text_of, written
from .plans import Plan, Trace


@documented('dealbox_law_language')
def languages() -> List[str]:
    found: List[str] = []
    while (c := lib.dealbox_law_language(len(found))) != ffi.NULL:
        found.append(text_of(c))
    return found


@documented('dealbox_law_translate')
def translate(language: str, message: str) -> str:
    c = ffi.new('char[]', message.encode())     # which the result may be
    return text_of(lib.dealbox_law_translate(c_string(language), c))


@documented('dealbox_ruleset_find')
def ruleset(name: str) -> Facts:
    c = lib.dealbox_ruleset_find(c_string(name))
    if c == ffi.NULL:
        raise ValueError('there is no ruleset %s' % name)
    return Facts(c)


@documented('dealbox_ruleset_get')
def rulesets() -> List[Facts]:
    return [Facts(lib.dealbox_ruleset_get(n)) for n in range(lib.DEALBOX_RULES)]


@dataclasses.dataclass(frozen=True)
class Paragraph:
    reference: str
    text: str


@documented('dealbox_paragraph_find')
def paragraph(rules: str, reference: str) -> Paragraph:
    c = lib.dealbox_paragraph_find(ruleset(rules).rules, c_string(reference))
    if c == ffi.NULL:
        raise ValueError('%s has no paragraph %s' % (rules, reference))
    return Paragraph(text_of(c.reference), text_of(c.text))


@documented('dealbox_law_plan')
def plan_of(rules: str, dealer: int, plan_id: int = 1) -> Plan:
    c = ffi.new('struct dealbox_plan *')
    check(lib.dealbox_law_plan(ruleset(rules).rules, dealer, plan_id, c), 'no plan can be made of that')
    return Plan(c)


@dataclasses.dataclass(frozen=True)
class Ruling:
    """lines: those that it is based on. line: where it is given. text: a line for programs."""
    kind: str
    reference: str
    text: str
    line: int
    lines: Tuple[int, ...]
    sentences: Tuple[Tuple[str, str], ...]

    def sentence(self, language: str = 'en') -> str:
        return dict(self.sentences)[language]


@dataclasses.dataclass(frozen=True)
class Judgement:
    deal: int
    known: bool
    board: Optional[int]
    name: str
    text: str
    line: int


def _ruling(c: Any) -> Ruling:
    return Ruling(text_of(lib.dealbox_ruling_kind_name(c.kind)), text_of(c.reference),
                  written(lib.dealbox_ruling_format, c), c.line, tuple(c.facts[n] for n in range(c.fact_count)),
                  tuple((language, written(lib.dealbox_ruling_text, c, c_string(language)))
                        for language in languages()))


@ffi.def_extern()  # type: ignore[misc]
def python_ruling(c: Any, context: Any) -> None:
    ffi.from_handle(context)._take(c)


@ffi.def_extern()  # type: ignore[misc]
def python_happening(c: Any, context: Any) -> None:
    ffi.from_handle(context)._happened(c)


class Judge(Single):
    """Takes a record line by line, and gives the rulings on each."""
    __slots__ = ('_c', '_handle', '_rulings', '_lines', '_failed', '__weakref__')

    @documented('dealbox_judge_new')
    def __init__(self, language: str = 'en') -> None:
        self._rulings: List[Ruling] = []
        self._lines: List[str] = []
        self._failed: Optional[BaseException] = None
        self._handle = ffi.new_handle(self)
        self._c = ffi.gc(got(lib.dealbox_judge_new(lib.python_ruling, self._handle)), lib.dealbox_judge_free)
        check(lib.dealbox_judge_language(self._c, c_string(language)), 'there is no such language')

    def _guard(self, act: Callable[[], None]) -> None:
        """An exception does not pass through the library."""
        try:
            act()
        except BaseException as error:
            self._failed = self._failed or error

    def _take(self, c: Any) -> None:
        self._guard(lambda: self._rulings.append(_ruling(c)))

    def _happened(self, c: Any) -> None:
        self._guard(lambda: self._lines.append(written(lib.dealbox_record_format, c)))

    def _given(self) -> List[Ruling]:
        failed, self._failed = self._failed, None
        if failed:
            raise failed
        rulings, self._rulings = self._rulings, []
        return rulings

    @documented('dealbox_judge_line')
    def line(self, line: str) -> List[Ruling]:
        data, error = line.encode(), ffi.new('struct dealbox_error *')
        check(lib.dealbox_judge_line(self._c, data, len(data), error), error=error)
        return self._given()

    def record(self, text: str) -> List[Ruling]:
        """All lines of a record."""
        return [ruling for line in text.splitlines() for ruling in self.line(line)]

    @documented('dealbox_judge_trace')
    def trace(self, plan: Plan, trace: Trace) -> Tuple[List[str], List[Ruling]]:
        """(the lines that the trace makes, the rulings on them)"""
        error = ffi.new('struct dealbox_error *')
        self._lines = []
        check(lib.dealbox_judge_trace(self._c, plan._c, trace._c, lib.python_happening, self._handle, error),
              'the trace cannot be judged', error)
        return self._lines, self._given()

    @property
    @documented('dealbox_judge_result')
    def result(self) -> Judgement:
        c = ffi.new('struct dealbox_judgement *')
        lib.dealbox_judge_result(self._c, c)
        return Judgement(c.deal, c.known, c.board if c.board >= 0 else None, text_of(c.name), text_of(c.text), c.line)


__all__ = ['Judge', 'Judgement', 'Paragraph', 'Ruling', 'languages', 'paragraph', 'plan_of', 'ruleset', 'rulesets',
           'translate']
