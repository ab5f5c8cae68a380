# SPDX-License-Identifier: LGPL-2.1-or-later
"""
The service dealboxd, over D-Bus with asyncio. docs/daemon.md says what each member means, and has
the errors; io.dealbox1.*.xml has the types.
"""
import asyncio
import dataclasses
import os
import weakref
from types import TracebackType
from typing import Any, Dict, List, Optional, Sequence, Tuple, Type

from dbus_next.aio.message_bus import MessageBus
from dbus_next.constants import BusType, MessageType
from dbus_next.message import Message
from dbus_next.signature import Variant

from .sets import Set

NAME = 'io.dealbox1'
ROOT = '/io/dealbox1'
BUS = 'org.freedesktop.DBus'
PROPERTIES = 'org.freedesktop.DBus.Properties'


class ServiceError(Exception):
    """A refusal: name is that of the D-Bus error."""
    def __init__(self, name: str, text: str) -> None:
        super().__init__(text)
        self.name, self.text = name, text


@dataclasses.dataclass(frozen=True)
class Judged:
    """The signal Verdict: that on one board; job is the path of its job. docs/daemon.md has the facts."""
    job: str
    board: int
    copy: int
    machine: str
    insertion: int
    exact: bool
    facts: Dict[str, Any]

    @property
    def text(self) -> str:
        """The sentence, in the language of the service."""
        return str(self.facts.get('text', ''))


@dataclasses.dataclass(frozen=True)
class Finished:
    """The last copy of a job is recorded."""
    job: str


@dataclasses.dataclass(frozen=True)
class Changed:
    """New properties of a machine or a job."""
    path: str
    interface: str
    properties: Dict[str, Any]


def _plain(value: Any) -> Any:
    """Without the variants of D-Bus."""
    if isinstance(value, Variant):
        return _plain(value.value)
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return value


@dataclasses.dataclass(frozen=True)
class Gone:
    """The service has left the bus. Its jobs go on when it is back."""


class Signals:
    """What the service tells. It ends with the connection."""

    def __init__(self) -> None:
        self._told: 'asyncio.Queue[Any]' = asyncio.Queue()

    def __aiter__(self) -> 'Signals':
        return self

    async def __anext__(self) -> Any:
        told = await self._told.get()
        if told is None:
            self._told.put_nowait(None)
            raise StopAsyncIteration
        return told


class Service:
    """`async with Service() as service: ...`; address: by default that of the system's bus."""

    def __init__(self, address: Optional[str] = None) -> None:
        self._bus: Any = MessageBus(bus_address=address, bus_type=BusType.SYSTEM,  # type: ignore[arg-type]
                                    negotiate_unix_fd=True)
        self._signals: 'weakref.WeakSet[Signals]' = weakref.WeakSet()
        self._ended: 'Optional[asyncio.Future[None]]' = None
        self._owner: Optional[str] = None   # the connection of the service; '' if there is none

    async def __aenter__(self) -> 'Service':
        await self._bus.connect()
        self._bus.add_message_handler(self._heard)
        self._ended = asyncio.ensure_future(self._watch())
        for sender, rule in ((NAME, "interface='%s.Job'" % NAME),
                             (NAME, "interface='%s',path_namespace='%s'" % (PROPERTIES, ROOT)),
                             (BUS, "member='NameOwnerChanged',arg0='%s'" % NAME)):
            await self._bus_call('AddMatch', 's', "type='signal',sender='%s',%s" % (sender, rule))
        try:
            owner = str((await self._bus_call('GetNameOwner', 's', NAME))[0])
        except ServiceError:
            owner = ''
        # what _heard() knows is newer
        if self._owner is None:
            self._owner = owner
        return self

    async def _watch(self) -> None:
        """Tells all when the connection ends, however it does."""
        try:
            await self._bus.wait_for_disconnect()
        except Exception:  # whatever the connection has died of
            pass
        self._tell(None)

    def _tell(self, told: Any) -> None:
        for signals in self._signals:
            signals._told.put_nowait(told)

    async def __aexit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                        traceback: Optional[TracebackType]) -> None:
        self._bus.disconnect()
        if self._ended is not None:
            await self._ended

    async def _send(self, message: Message, fds: Sequence[int]) -> List[Any]:
        message.unix_fds = list(fds)
        reply = await self._bus.call(message)
        if reply.message_type == MessageType.ERROR:
            raise ServiceError(reply.error_name, str(reply.body[0]) if reply.body else '')
        if reply.unix_fds:
            return [reply.unix_fds[value] if kind.token == 'h' else value
                    for kind, value in zip(reply.signature_tree.types, reply.body)]
        return list(reply.body)

    async def _bus_call(self, member: str, signature: str, *body: Any) -> List[Any]:
        return await self._send(Message(BUS, '/org/freedesktop/DBus', BUS, member, signature=signature, body=list(body)), ())

    async def call(self, path: str, member: str, signature: str = '', *body: Any, fds: Sequence[int] = ()) -> Any:
        """
        Any method, such as call('Manager', 'GetSets') or call(machine, 'Locate', 'u', 5). path: of a
        machine or a job, or 'Manager'. A descriptor is the index of fds, and comes back as such:
        the caller closes it. Returns the value, or a list if there is not exactly one.
        """
        if path == 'Manager':
            interface, path = path, ROOT
        else:
            interface = 'Machine' if path.startswith(ROOT + '/machine/') else 'Job'
        answer = _plain(await self._send(Message(NAME, path, '%s.%s' % (NAME, interface), member,
                                                 signature=signature, body=list(body)), fds))
        return answer[0] if len(answer) == 1 else answer

    def _heard(self, message: Message) -> None:
        if message.message_type != MessageType.SIGNAL:
            return
        told: Any = None
        if message.sender == BUS:
            if message.member == 'NameOwnerChanged' and message.body[0] == NAME:
                self._owner = message.body[2]
                told = None if self._owner else Gone()
        elif message.sender != self._owner:
            # signals to this connection alone come without a match, from anyone
            return
        elif message.interface == NAME + '.Job' and message.member == 'Verdict':
            told = Judged(message.path, *_plain(message.body))
        elif message.interface == NAME + '.Job' and message.member == 'Finished':
            told = Finished(message.path)
        elif message.interface == PROPERTIES and message.member == 'PropertiesChanged' \
                and message.path.startswith(ROOT):
            told = Changed(message.path, message.body[0], _plain(message.body[1]))
        if told is not None:
            self._tell(told)

    def signals(self) -> 'Signals':
        """`async for told in service.signals()`: Judged, Finished, Changed and Gone, from this call on."""
        signals = Signals()
        self._signals.add(signals)
        return signals

    async def _objects(self, interface: str) -> Dict[str, Dict[str, Any]]:
        objects, = await self._send(Message(NAME, ROOT, 'org.freedesktop.DBus.ObjectManager',
                                            'GetManagedObjects'), ())
        name = '%s.%s' % (NAME, interface)
        return {path: _plain(interfaces[name]) for path, interfaces in objects.items() if name in interfaces}

    async def machines(self) -> Dict[str, Dict[str, Any]]:
        """Path -> properties of each machine."""
        return await self._objects('Machine')

    async def jobs(self) -> Dict[str, Dict[str, Any]]:
        """Path -> properties of each job."""
        return await self._objects('Job')

    async def add_set(self, deals: Set, session: str) -> Tuple[int, int]:
        """The deals go to the service in memory, and into no file: (number of the set, its boards)."""
        with os.fdopen(os.memfd_create('set', os.MFD_CLOEXEC), 'wb') as memory:
            memory.write(deals.to_bytes('pbn'))
            memory.flush()
            number, boards = await self.call('Manager', 'AddSet', 'hss', 0, session, deals.pack.name,
                                             fds=[memory.fileno()])
        return int(number), int(boards)

    async def boards(self, number: int) -> List[int]:
        """The boards of a set of the ledger."""
        return list(await self.call('Manager', 'GetBoards', 't', number))

    async def add_job(self, number: int, boards: Sequence[int], copies: int = 1, *, priority: int = 0,
                      machines: Sequence[str] = (), options: Sequence[str] = ()) -> str:
        """The path of the job. options: those of AddJob, such as 'automatic-start'."""
        more = {option: Variant('b', True) for option in options}
        if priority:
            more['priority'] = Variant('i', priority)
        if machines:
            more['machines'] = Variant('as', list(machines))
        return str(await self.call('Manager', 'AddJob', 'tauua{sv}', number, list(boards), copies, more))

    async def answer(self, machine: str, question: int) -> None:
        """Start, for the question of that number only."""
        await self.call(machine, 'Answer', 'u', question)

    async def stop(self) -> None:
        """The emergency stop of all machines."""
        await self.call('Manager', 'Stop')


__all__ = ['Changed', 'Finished', 'Gone', 'Judged', 'Service', 'ServiceError', 'Signals']
