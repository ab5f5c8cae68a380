# SPDX-License-Identifier: LGPL-2.1-or-later
"""
Par, from its definition and the laws' table of scores, for the tests of double dummy. Written to be
read, not to be fast; it shares nothing with the program.
"""

import functools

SEATS = "NESW"
ORDER = ["C", "D", "H", "S", "NT"]
BIDS = [(level, denomination) for level in range(1, 8) for denomination in ORDER]


def vulnerable(seat, who):
    return who == "All" or (who != "None" and seat in who)


def score(level, denomination, tricks, is_vulnerable):
    """Law 77, from the declarer's side: undoubled if it makes, else doubled."""
    if tricks < level + 6:
        down = level + 6 - tricks
        if is_vulnerable:
            return -(200 + 300 * (down - 1))
        return -sum([100, 200, 200][:down]) - 300 * max(0, down - 3)
    each = {"C": 20, "D": 20, "H": 30, "S": 30, "NT": 30}[denomination]
    contract = each * level + (10 if denomination == "NT" else 0)
    bonus = (500 if is_vulnerable else 300) if contract >= 100 else 50
    bonus += {6: 750 if is_vulnerable else 500, 7: 1500 if is_vulnerable else 1000}.get(level, 0)
    return contract + each * (tricks - 6 - level) + bonus


def points(tricks, bid, seat, who):
    """For North-South. tricks[seat][denomination]"""
    own = score(bid[0], bid[1], tricks[seat][bid[1]], vulnerable(seat, who))
    return own if seat in "NS" else -own


def par_score(tricks, dealer, who):
    """The auction is a game of four players with open cards: its value for North-South."""

    @functools.lru_cache(None)
    def value(last, declarer, passes, seat):
        """The last bid, who made it, passes since, and who is to call"""
        if last < 0 and passes == 4:
            return 0
        if last >= 0 and passes == 3:
            return points(tricks, BIDS[last], declarer, who)
        after = SEATS[(SEATS.index(seat) + 1) % 4]
        calls = [value(last, declarer, passes + 1, after)]
        calls += [value(bid, seat, 0, after) for bid in range(last + 1, len(BIDS))]
        return max(calls) if seat in "NS" else min(calls)

    return value(-1, None, 0, dealer)


def par_contracts(tricks, dealer, who):
    """
    (level, denomination, declarer) of each contract with the par score that no side gains by outbidding, and that
    no opponent who calls earlier gains by bidding himself. If both players of a side make it, it is enough that one
    of them is in time.
    """
    par = par_score(tricks, dealer, who)

    def gains(bid, seat):
        sign = 1 if seat in "NS" else -1
        return points(tricks, bid, seat, who) * sign > par * sign

    def partners(one, other):
        return (one in "NS") == (other in "NS")

    turns = (SEATS * 2)[SEATS.index(dealer):][:4]
    found = set()
    for n, bid in enumerate(BIDS):
        if not par or any(gains(higher, seat) for higher in BIDS[n + 1:] for seat in SEATS):
            continue
        able = {seat for seat in SEATS if points(tricks, bid, seat, who) == par}
        late = {seat for turn, seat in enumerate(turns)
                if any(gains(bid, other) for other in turns[:turn] if not partners(seat, other))}
        for seat in able:
            makes = tricks[seat][bid[1]] >= bid[0] + 6
            if seat not in late or makes and any(partners(seat, other) for other in able - late):
                found.add(bid + (seat,))
    return found
