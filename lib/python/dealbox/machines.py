# SPDX-License-Identifier: LGPL-2.1-or-later
"""Machines: found, opened, commanded, and read, also with asyncio."""
import asyncio
import collections
import dataclasses
import errno
import select
from types import TracebackType
from typing import Any, AsyncIterator, Callable, Deque, List, Optional, Sequence, Tuple, Type

from ._dealbox import ffi, lib
from .core import Error, Facts, Single, c_string, check, documented, secret, text_of
from .plans import Event, Plan

EVENTS = 64     # that are read at a time


@dataclasses.dataclass(frozen=True)
class Found:
    uri: str
    serial: str
    port: str
    model: str


@documented('dealbox_machine_list_new')
def find_machines(emulators: Sequence[str] = ()) -> List[Found]:
    strings = [ffi.new('char[]', c_string(path)) for path in emulators]
    paths = ffi.new('char *[]', [*strings, ffi.NULL])
    out, error = ffi.new('struct dealbox_machine_list **'), ffi.new('struct dealbox_error *')
    check(lib.dealbox_machine_list_new(ffi.cast('const char *const *', paths), out, error), error=error)
    found = ffi.gc(out[0], lib.dealbox_machine_list_free)
    return [Found(*(text_of(get(found, n)) for get in (
        lib.dealbox_machine_list_uri, lib.dealbox_machine_list_serial,
        lib.dealbox_machine_list_port, lib.dealbox_machine_list_model)))
        for n in range(lib.dealbox_machine_list_count(found))]


def _settle(waiting: 'asyncio.Future[None]') -> None:
    if not waiting.done():
        waiting.set_result(None)


class _Readable:
    """Something with a descriptor that asyncio can wait for."""
    _fd: int
    _waiting: 'Optional[asyncio.Future[None]]' = None

    async def _readable(self) -> None:
        if self._waiting is not None:
            raise RuntimeError('somebody waits for it already')
        loop = asyncio.get_running_loop()
        waiting = self._waiting = loop.create_future()
        loop.add_reader(self._fd, _settle, waiting)
        try:
            await waiting
        finally:
            # not after close(): the number of the descriptor may be another file's by then
            if self._waiting is waiting:
                self._waiting = None
                loop.remove_reader(self._fd)

    def _wake(self, error: Exception) -> None:
        """Before the descriptor is closed."""
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            loop = waiting.get_loop()
            if not loop.is_closed():
                loop.remove_reader(self._fd)
                if not waiting.done():
                    waiting.set_exception(error)


class Monitor(Single, _Readable):
    """Machines that come and go."""

    @documented('dealbox_monitor_new')
    def __init__(self) -> None:
        out, error = ffi.new('struct dealbox_monitor **'), ffi.new('struct dealbox_error *')
        check(lib.dealbox_monitor_new(out, error), error=error)
        self._c = ffi.gc(out[0], lib.dealbox_monitor_free)
        self._fd = lib.dealbox_monitor_fd(self._c)

    def fileno(self) -> int:
        return self._fd

    @documented('dealbox_monitor_next')
    def next(self) -> Optional[Tuple[int, str]]:
        """(DEALBOX_PLUG_*, port), or None if there is no event."""
        port = ffi.new('char[%d]' % lib.DEALBOX_PORT)
        plug = lib.dealbox_monitor_next(self._c, port)
        if plug == -errno.EAGAIN:
            return None
        return check(plug, 'events were lost: list the machines'), text_of(port)

    async def plugs(self) -> AsyncIterator[Tuple[int, str]]:
        while True:
            while (event := self.next()) is not None:
                yield event
            await self._readable()


class Machine(Single, _Readable):
    """
    One machine. It is closed by close(), at the end of `with`, or when nobody has it any more; a
    deal that runs is then paused. One thread at a time.

    Errors have errno as dealbox/machine.h says; where the machine refused (EREMOTEIO), result and
    detail say why.
    """

    @documented('dealbox_machine_open')
    def __init__(self, uri: Optional[str] = None, *, observe: bool = False) -> None:
        out, error = ffi.new('struct dealbox_machine **'), ffi.new('struct dealbox_error *')
        flags = lib.DEALBOX_MACHINE_OBSERVE if observe else 0
        check(lib.dealbox_machine_open(c_string(uri), flags, out, error), error=error)
        self._open: Any = ffi.gc(out[0], lib.dealbox_machine_close)
        self._fd = lib.dealbox_machine_fd(self._open)
        self._unread: Deque[Event] = collections.deque()    # of a loop over events() that was left
        self.uri = text_of(lib.dealbox_machine_uri(self._open))

    @property
    def _c(self) -> Any:
        if self._open is None:
            raise Error(errno.EBADF, 'the machine is closed')
        return self._open

    @documented('dealbox_machine_close')
    def close(self) -> None:
        if self._open is not None:
            self._wake(Error(errno.EBADF, 'the machine is closed'))
            machine, self._open = self._open, None
            self._unread.clear()
            ffi.release(machine)

    def __enter__(self) -> 'Machine':
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 traceback: Optional[TracebackType]) -> None:
        self.close()

    def __repr__(self) -> str:
        return '<Machine %s%s>' % (self.uri, '' if self._open is not None else ', closed')

    def _call(self, function: Callable[..., int], *arguments: Any) -> None:
        machine = self._c
        code = function(machine, *arguments)
        if code >= 0:
            return
        reason = lib.dealbox_machine_error(machine)
        detail = ffi.new('uint32_t *')
        refused = code == -errno.EREMOTEIO
        result = lib.dealbox_machine_result(machine, detail) if refused else 0
        raise Error(-code, text_of(reason.what), next=text_of(reason.next), result=result,
                    detail=detail[0] if refused else 0)

    def _get(self, function: Callable[..., int], kind: str) -> Facts:
        c = secret('struct %s *' % kind)
        self._call(function, c)
        return Facts(c)

    def fileno(self) -> int:
        """
        For select and poll: readable when read() has something to do. When a loop over events() was
        left, call read() first: it may have events that were read together with the last one.
        """
        if self._open is None:
            raise Error(errno.EBADF, 'the machine is closed')
        return self._fd

    @documented('dealbox_machine_read')
    def read(self) -> List[Event]:
        """[] if there are none. ENODEV: the machine is gone, and all its events were read."""
        machine = self._c
        if self._unread:
            unread = list(self._unread)
            self._unread.clear()
            return unread
        events = secret('struct dealbox_event[]', EVENTS)
        count = lib.dealbox_machine_read(machine, events, EVENTS)
        if count == -errno.EAGAIN:
            return []
        if count < 0:
            self._call(lambda _: int(count))
        return [Event._of(events[n]) for n in range(count)]

    def wait(self, timeout: Optional[float] = None) -> List[Event]:
        """The next events; [] if the time in s is over."""
        found = self.read()
        if not found:
            poll = select.poll()
            poll.register(self._fd, select.POLLIN)
            if poll.poll(None if timeout is None else timeout * 1000):
                found = self.read()
        return found

    async def events(self) -> AsyncIterator[Event]:
        """
        Every event, as asyncio has them: `async for event in machine.events()`. It ends with the
        error ENODEV when the machine is gone, and EBADF when it is closed here. A host-routed
        machine on usb: or emu: waits at each card until the loop comes round to this. When the loop
        is left, the next one, read() and wait() go on behind its last event.
        """
        while True:
            self._unread.extend(self.read())
            if not self._unread:
                await self._readable()
            while self._unread:
                yield self._unread.popleft()

    @documented('dealbox_info')
    def info(self) -> Facts:
        return self._get(lib.dealbox_machine_get_info, 'dealbox_info')

    @documented('dealbox_status')
    def status(self) -> Facts:
        return self._get(lib.dealbox_machine_get_status, 'dealbox_status')

    @documented('dealbox_counters')
    def counters(self) -> Facts:
        return self._get(lib.dealbox_machine_get_counters, 'dealbox_counters')

    @documented('dealbox_machine_get_identity')
    def identity(self) -> Facts:
        return self._get(lib.dealbox_machine_get_identity, 'dealbox_identity')

    @documented('dealbox_machine_get_param')
    def param(self, number: int) -> Facts:
        c = ffi.new('struct dealbox_param *')
        self._call(lib.dealbox_machine_get_param, number, c)
        return Facts(c)

    @documented('dealbox_machine_set_param')
    def set_param(self, number: int, value: int) -> None:
        self._call(lib.dealbox_machine_set_param, number, value)

    @documented('dealbox_machine_claim')
    def claim(self) -> None:
        self._call(lib.dealbox_machine_claim)

    @documented('dealbox_machine_release')
    def release(self) -> None:
        self._call(lib.dealbox_machine_release)

    @documented('dealbox_machine_set_plan')
    def set_plan(self, plan: Plan) -> None:
        self._call(lib.dealbox_machine_set_plan, plan._c)

    @documented('dealbox_machine_start')
    def start(self, plan: Plan, insertion: int) -> None:
        self._call(lib.dealbox_machine_start, plan.plan_id, insertion)

    @documented('dealbox_machine_pause')
    def pause(self) -> None:
        self._call(lib.dealbox_machine_pause)

    @documented('dealbox_machine_resume')
    def resume(self) -> None:
        self._call(lib.dealbox_machine_resume)

    @documented('dealbox_machine_reread')
    def reread(self) -> None:
        self._call(lib.dealbox_machine_reread)

    @documented('dealbox_machine_abort')
    def abort(self) -> None:
        self._call(lib.dealbox_machine_abort)

    @documented('dealbox_machine_clear_fault')
    def clear_fault(self) -> None:
        self._call(lib.dealbox_machine_clear_fault)

    @documented('dealbox_machine_release_board')
    def release_board(self) -> None:
        self._call(lib.dealbox_machine_release_board)

    @documented('dealbox_machine_test_deal')
    def test_deal(self, insertion: int, cards: int) -> None:
        self._call(lib.dealbox_machine_test_deal, insertion, cards)

    @documented('dealbox_machine_locate')
    def locate(self, seconds: int) -> None:
        self._call(lib.dealbox_machine_locate, seconds)


@documented('dealbox_state_name')
def state_name(state: int) -> str:
    return text_of(lib.dealbox_state_name(state))


__all__ = ['Facts', 'Found', 'Machine', 'Monitor', 'find_machines', 'state_name']
