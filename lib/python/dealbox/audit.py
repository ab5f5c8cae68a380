# SPDX-License-Identifier: LGPL-2.1-or-later
"""An audit of deals that have been played."""
import dataclasses
from typing import Any, List, Optional

from ._dealbox import ffi, lib
from .core import c_string, check, documented, got, text_of
from .sets import Set


@dataclasses.dataclass(frozen=True)
class Test:
    """One test of all deals together. p is None if there were too few."""
    name: str
    what: str
    p: Optional[float]
    corrected: Optional[float]


@dataclasses.dataclass(frozen=True)
class Finding:
    """deals in a row from board of set on; other_set and other_board are the earlier place."""
    kind: str
    set: str
    board: int
    deals: int
    other_set: str
    other_board: int
    turned: int


KINDS = {lib.DEALBOX_AUDIT_SORTED: 'sorted', lib.DEALBOX_AUDIT_REPEATED: 'repeated', lib.DEALBOX_AUDIT_SEED: 'seed'}


@ffi.def_extern(error=-1)  # type: ignore[misc]
def python_finding(c: Any, context: Any) -> int:
    ffi.from_handle(context).append((c.kind, c.set, c.board, c.count, c.other_set, c.other_board, c.turned))
    return 0


class Audit:
    """Sets that are compared with what chance gives."""
    __slots__ = ('_c',)

    @documented('dealbox_audit_new')
    def __init__(self) -> None:
        self._c = ffi.gc(got(lib.dealbox_audit_new()), lib.dealbox_audit_free)

    @documented('dealbox_audit_add')
    def add(self, deals: Set, name: str) -> None:
        check(lib.dealbox_audit_add(self._c, deals._c, c_string(name)), 'the set is not played, or not bridge')

    @documented('dealbox_audit_deals')
    def __len__(self) -> int:
        return int(lib.dealbox_audit_deals(self._c))

    @property
    @documented('dealbox_audit_set')
    def sets(self) -> List[str]:
        return [text_of(lib.dealbox_audit_set(self._c, n)) for n in range(lib.dealbox_audit_sets(self._c))]

    @documented('dealbox_audit_run')
    def tests(self) -> List[Test]:
        array = ffi.new('struct dealbox_audit_test[]', lib.dealbox_audit_run(self._c, ffi.NULL, 0))
        return [Test(text_of(c.name), text_of(c.what), c.p if c.enough else None, c.corrected if c.enough else None)
                for c in array[0:lib.dealbox_audit_run(self._c, array, len(array))]]

    @documented('dealbox_audit_find')
    def findings(self) -> List[Finding]:
        found: List[Any] = []
        handle = ffi.new_handle(found)
        check(lib.dealbox_audit_find(self._c, lib.python_finding, handle), 'the search has failed')
        sets = self.sets
        return [Finding(KINDS.get(kind, '?'), sets[where], board, count,
                        '' if kind == lib.DEALBOX_AUDIT_SORTED else sets[other], other_board, turned)
                for kind, where, board, count, other, other_board, turned in found]


__all__ = ['Audit', 'Finding', 'Test']
