# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the other modules share: the library, its errors, its documentation, secret memory."""
import os
from typing import Any, Callable, Iterator, List, NoReturn, Optional, Tuple, TypeVar

from ._dealbox import ffi, lib
from ._docs import DOCS

Anything = TypeVar('Anything')


class Error(OSError):
    """
    A call failed. errno has the code of the library as a positive number, text what is wrong, next
    what to do ('' if there is no advice), line the line of a file or record (0: none). problems are
    those of a deal file. result and detail are the machine's answer, if it refused. No text names
    a card.
    """
    def __init__(self, code: int, text: str = '', *, next: str = '', line: int = 0,
                 problems: Tuple[Any, ...] = (), result: int = 0, detail: int = 0) -> None:
        self.text = text or os.strerror(code)
        self.next, self.line, self.problems = next, line, problems
        self.result, self.detail = result, detail
        super().__init__(code, self.text)

    def __str__(self) -> str:
        place = 'line %d: ' % self.line if self.line else ''
        return place + self.text + (': ' + self.next if self.next else '')


def documented(name: str) -> Callable[[Anything], Anything]:
    """The comment of the header becomes the documentation, behind what it has of its own."""
    def document(what: Anything) -> Anything:
        own = what.__doc__
        what.__doc__ = (own + '\n\n' if own else '') + name + ': ' + DOCS[name]
        return what
    return document


def check(code: int, text: str = '', error: Any = None) -> int:
    """Raises what a call returned, if it is negative. error: struct dealbox_error *."""
    if code >= 0:
        return code
    if error is not None and error.what[0] != b'\0':
        raise Error(-code, text_of(error.what), next=text_of(error.next), line=error.line)
    raise Error(-code, text)


def got(pointer: Any) -> Any:
    """A new object of the library; it had no memory if there is none."""
    if pointer == ffi.NULL:
        raise MemoryError
    return pointer


def text_of(chars: Any) -> str:
    """A string of the library; '' for NULL."""
    return str(ffi.string(chars), 'utf-8', 'replace') if chars != ffi.NULL else ''


def written(write: Callable[..., int], *arguments: Any) -> str:
    """What a function writes that works as snprintf()."""
    size = 256
    while True:
        buffer = secret('char[]', size)
        length = int(write(*arguments, buffer, size))
        if length < size:
            return text_of(buffer)
        size = length + 1


# secret(type, initial value): new memory, with zeros, that is wiped when it is freed
secret: Callable[..., Any] = ffi.new_allocator(lib.bulk_alloc, lib.bulk_free)


def path_of(path: 'os.PathLike[str] | str') -> bytes:
    """A zero would cut it off, and name another file."""
    name = os.fsencode(path)
    if b'\0' in name:
        raise ValueError('a zero in a path')
    return name


def c_string(text: Optional[str]) -> Any:
    """For an argument that may be NULL. A zero would cut it off."""
    if text is None:
        return ffi.NULL
    if '\0' in text:
        raise ValueError('a zero in a text')
    return text.encode()


class Single:
    """What there is once: a copy would be a second owner of it. copy and pickle both ask for this."""
    __slots__ = ()

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError('%s is not copied, and not pickled' % type(self).__name__)


class Facts:
    """A structure of the library, whose members are attributes."""
    __slots__ = ('_c',)

    def __init__(self, c: Any) -> None:
        object.__setattr__(self, '_c', c)

    def __getattr__(self, name: str) -> Any:
        if name.startswith('_') or name not in dir(self):
            raise AttributeError(name)
        value = getattr(self._c, name)
        if isinstance(value, ffi.CData):
            kind = ffi.typeof(value)
            if kind.kind == 'array' and kind.item.cname != 'char':
                return tuple(value)
            return text_of(value)
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(name)

    def __copy__(self: Anything) -> Anything:
        """Nobody can change it."""
        return self

    def __deepcopy__(self: Anything, memo: Any) -> Anything:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError('facts may be secret, and are not pickled')

    def __dir__(self) -> List[str]:
        return [name for name, field in self._members() if not name.startswith('reserved')]

    def _members(self) -> Iterator[Tuple[str, Any]]:
        for name, field in ffi.typeof(self._c).item.fields:
            if name:
                yield name, field
            else:
                yield from field.type.fields

    def __repr__(self) -> str:
        """Without members: some structures have cards."""
        return '<%s>' % ffi.typeof(self._c).item.cname
