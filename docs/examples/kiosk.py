#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""kiosk.py FILE SESSION: deals by the service, says what to do at the machines; Enter is start."""
import asyncio
import sys
from typing import Any, Dict

import dealbox
from dealbox.service import Changed, Finished, Gone, Judged, Service, ServiceError


# %% What the machine asks for
def asked(machine: Dict[str, Any]) -> str:
    return '%s: %s%s' % (machine['Id'], machine['Instruction'], '  [Enter]' * ('start' in machine['Keys']))


# %% Enter answers the question that stands on the screen, and no later one
async def keys(service: Service, screen: Dict[str, Any]) -> None:
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)

    async def answer(path: str, question: int) -> None:
        try:
            await service.answer(path, question)
        except ServiceError as error:
            print(error.text, flush=True)

    answering = None
    while await reader.readline():
        waiting = [path for path, machine in screen.items() if 'start' in machine['Keys']]
        # a second Enter meanwhile is for the same question
        if len(waiting) == 1 and (answering is None or answering.done()):
            answering = asyncio.ensure_future(answer(waiting[0], screen[waiting[0]]['Question']))


# %% The job, from its set to its last board
async def kiosk(path: str, session: str) -> None:
    async with Service() as service:
        signals = service.signals()
        number, _ = await service.add_set(dealbox.Set.read(path), session)
        job = await service.add_job(number, await service.boards(number))
        screen = await service.machines()
        pressed = asyncio.ensure_future(keys(service, screen))
        print(*map(asked, screen.values()), sep='\n', flush=True)
        async for event in signals:
            if isinstance(event, Judged) and event.job == job:
                print('board %d, copy %d: %s' % (event.board, event.copy, event.text), flush=True)
            elif isinstance(event, Finished) and event.job == job:
                break
            elif isinstance(event, Gone):
                sys.exit('the service has ended')
            elif isinstance(event, Changed) and event.path in screen:
                before = asked(machine := screen[event.path])
                machine.update(event.properties)
                if asked(machine) != before:
                    print(asked(machine), flush=True)
        pressed.cancel()


# %% Start
if __name__ == '__main__':
    if len(sys.argv) != 3:
        sys.exit('usage: %s FILE SESSION' % sys.argv[0])
    try:
        asyncio.run(kiosk(sys.argv[1], sys.argv[2]))
    except (OSError, ServiceError) as error:
        sys.exit(str(error))
