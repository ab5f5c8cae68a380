# SPDX-License-Identifier: LGPL-2.1-or-later
"""
dealbox for Python: cards, deals, sets, formats, plans, verdicts, numbers, machines, laws.

Square Deal is dealbox.square, the laws are dealbox.laws, an audit is dealbox.audit, and the service
is dealbox.service. Nothing shows a card in repr(), str() or an exception; reveal() does.

dealbox.lib is what cffi makes of the headers. Its numbers (DEALBOX_*) are those of the C library;
its functions and structures may change with the version of dealbox or cffi.
"""
from ._dealbox import lib
from .cards import (BRIDGE, PREFERANS, BigDeal, Cards, Deal, Deals, Defect, Numbering, Pack, Random, Seat, Vulnerable,
                    card_name, dealer_of, parse_card, parse_number, vulnerable_of)
from .core import Error, Facts
from .machines import Found, Machine, Monitor, find_machines, state_name
from .plans import Basis, Difference, Event, EventClass, Plan, Trace, Verdict, verify
from .sets import Board, Format, Problem, Report, Set, formats, recognise

version: int = lib.dealbox_version()
"""Of the library in use: the three parts are bytes."""

__all__ = ['BRIDGE', 'Basis', 'BigDeal', 'Board', 'Cards', 'Deal', 'Deals', 'Defect', 'Difference', 'Error',
           'Event', 'EventClass', 'Facts', 'Format', 'Found', 'Machine', 'Monitor', 'Numbering', 'PREFERANS',
           'Pack', 'Plan', 'Problem', 'Random', 'Report', 'Seat', 'Set', 'Trace', 'Verdict', 'Vulnerable',
           'card_name', 'dealer_of', 'find_machines', 'formats', 'lib', 'parse_card', 'parse_number',
           'recognise', 'state_name', 'verify', 'version', 'vulnerable_of']
