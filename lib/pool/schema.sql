-- SPDX-License-Identifier: LGPL-2.1-or-later
-- The database of an event on many PCs. `dealbox event init` runs this file in one transaction, as
-- the owner of the database. docs/event.md describes roles and rules.
--
-- No deal is here in the clear: boards have keyed hashes, and sets are sealed for the keys of PCs.
-- PCs change rows through functions only. Functions run with the rights of the owner, so each
-- begins by finding out who asks: session_user, which SET ROLE does not change.

CREATE SCHEMA dealbox;

DO $$
DECLARE
	wanted name;
BEGIN
	FOREACH wanted IN ARRAY ARRAY['dealbox_pc', 'dealbox_director'] LOOP
		IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted) THEN
			EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
		END IF;
	END LOOP;
END $$;

GRANT USAGE ON SCHEMA dealbox TO dealbox_pc, dealbox_director;
SET LOCAL search_path = dealbox, pg_temp;

-- ---- tables -----------------------------------------------------------------------------------

CREATE TABLE event (
	single boolean PRIMARY KEY DEFAULT true CHECK (single),
	version integer NOT NULL,
	name text NOT NULL CHECK (octet_length(name) BETWEEN 1 AND 127),
	made timestamptz NOT NULL,
	lease interval NOT NULL CHECK (lease > '0'),	-- how long a PC may begin boards on its own
	margin interval NOT NULL CHECK (margin >= '0'),	-- for a board that was begun at the end of it
	rehearsal boolean NOT NULL,	-- boards of emulated machines count
	key_check bytea NOT NULL CHECK (octet_length(key_check) = 32)	-- tells keys of events apart
);

CREATE TABLE pc (
	id integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
	name text NOT NULL UNIQUE CHECK (octet_length(name) BETWEEN 1 AND 63),
	login name NOT NULL,
	token uuid NOT NULL UNIQUE,		-- which the PC has made
	public_key bytea NOT NULL CHECK (octet_length(public_key) = 32),
	sealed_key bytea,			-- the key of the event, for that public key
	admission bytea,			-- name and public key, authenticated with that key
	state text NOT NULL DEFAULT 'here' CHECK (state IN ('here', 'lost', 'left')),
	lost_by name,				-- who declared it lost, last
	lost_at timestamptz,
	asked bigint NOT NULL DEFAULT 0,	-- number of its last request
	nonce uuid,				-- and what it must repeat to get the same answer again
	until timestamptz NOT NULL,		-- its lease: end of what it may begin on its own
	heads integer NOT NULL DEFAULT 0,	-- that it has reported
	head_bytes bigint NOT NULL DEFAULT 0,
	open integer NOT NULL DEFAULT 0 CHECK (open >= 0),	-- copies that it has not begun, as it has told
	seen timestamptz NOT NULL
);
CREATE UNIQUE INDEX pc_login ON pc (login) WHERE state <> 'left';

CREATE TABLE job (
	id integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
	session text NOT NULL CHECK (octet_length(session) BETWEEN 1 AND 127),
	copies integer NOT NULL CHECK (copies BETWEEN 1 AND 9999),
	priority integer NOT NULL,
	replay boolean NOT NULL,
	open boolean NOT NULL DEFAULT true
);

CREATE TABLE board (
	job integer NOT NULL REFERENCES job,
	number integer NOT NULL CHECK (number BETWEEN 1 AND 9999),
	hash uuid NOT NULL,		-- of the deal, with the key of the event
	PRIMARY KEY (job, number),
	UNIQUE (job, hash)
);

-- Every deal of the event, whatever the session, once: Law 6D2. Copies and replays share its row.
CREATE TABLE deal (
	hash uuid PRIMARY KEY,
	session text NOT NULL		-- the first
) PARTITION BY HASH (hash);
DO $$
BEGIN
	FOR n IN 0..15 LOOP
		EXECUTE format('CREATE TABLE deal_%s PARTITION OF deal FOR VALUES WITH (MODULUS 16, REMAINDER %s)', n, n);
	END LOOP;
END $$;

CREATE TABLE sealed_set (
	job integer NOT NULL REFERENCES job,
	pc integer NOT NULL REFERENCES pc,
	sealed bytea NOT NULL,
	PRIMARY KEY (job, pc)
);

-- What a PC has reported. A machine deals an insertion once, so that a report that comes twice is
-- one record. Machines without a serial number have the same names at several PCs, so the PC is part
-- of the key. Of the exact boards for one copy, one counts. The others are surplus: they exist, and
-- somebody has to take them out of play.
CREATE TABLE record (
	id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
	machine text NOT NULL CHECK (octet_length(machine) BETWEEN 1 AND 127),
	insertion bigint NOT NULL CHECK (insertion BETWEEN 1 AND 4294967295),
	pc integer NOT NULL REFERENCES pc,
	job integer NOT NULL,
	number integer NOT NULL,
	copy integer NOT NULL,
	outcome text NOT NULL CHECK (outcome IN ('exact', 'differs', 'void', 'unknown')),
	standing text NOT NULL CHECK (standing IN ('counts', 'surplus', 'withdrawn', 'no board')),
	at timestamptz NOT NULL,		-- by the clock of the PC
	received timestamptz NOT NULL,
	withdrawn_by name,		-- the director who has said that the board is out of play
	withdrawn_at timestamptz,
	CHECK ((outcome = 'exact') = (standing <> 'no board')),
	UNIQUE (pc, machine, insertion)
);
CREATE UNIQUE INDEX record_once ON record (job, number, copy) WHERE standing = 'counts';

-- A copy is open, held by a PC, or recorded.
CREATE TABLE copy (
	job integer NOT NULL,
	number integer NOT NULL,
	copy integer NOT NULL CHECK (copy > 0),
	pc integer REFERENCES pc,	-- who holds it
	ask bigint,			-- the request that got it
	record bigint UNIQUE REFERENCES record,
	PRIMARY KEY (job, number, copy),
	FOREIGN KEY (job, number) REFERENCES board,
	CHECK (pc IS NULL OR record IS NULL)
);
ALTER TABLE record ADD FOREIGN KEY (job, number, copy) REFERENCES copy;
CREATE INDEX copy_open ON copy (job, number, copy) WHERE pc IS NULL AND record IS NULL;
CREATE INDEX copy_held ON copy (pc) WHERE pc IS NOT NULL;

-- Heads of the logs of certificates that PCs keep. Nothing is checked here: an audit finds out
-- whether each continues the one before.
CREATE TABLE head (
	id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
	pc integer NOT NULL REFERENCES pc,
	origin text NOT NULL CHECK (octet_length(origin) < 128),
	key bytea NOT NULL CHECK (octet_length(key) = 32),
	note text NOT NULL CHECK (octet_length(note) < 65536),
	proof text CHECK (octet_length(proof) < 65536),
	received timestamptz NOT NULL
);
CREATE INDEX head_of_log ON head (origin, id);

-- What the machines of PCs do, for the screens of all: no board, no card.
CREATE TABLE machine (
	pc integer NOT NULL REFERENCES pc,
	name text NOT NULL CHECK (octet_length(name) BETWEEN 1 AND 127),
	state text NOT NULL CHECK (octet_length(state) BETWEEN 1 AND 31),	-- dealbox_operator_name()
	pace integer NOT NULL CHECK (pace >= 0),	-- seconds for a board, 0 = none was dealt yet
	told timestamptz NOT NULL,
	PRIMARY KEY (pc, name)
);

-- Who has said that a PC is to rest: to take no copies, and to give back what it has not begun; or to take
-- copies again. The last counts. Rows are only added, and refer to no other row: else somebody who leaves a
-- transaction open behind such a wish would block all requests of that PC.
CREATE TABLE rest (
	id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
	pc integer NOT NULL,
	rest boolean NOT NULL,
	by_pc integer,			-- who has said it; NULL = a director
	by_name text NOT NULL,		-- the name of that PC, or the director's user
	at timestamptz NOT NULL
);
CREATE INDEX rest_last ON rest (pc, id);
CREATE INDEX rest_by ON rest (by_pc);

-- ---- who asks ---------------------------------------------------------------------------------

CREATE FUNCTION clock() RETURNS timestamptz LANGUAGE sql VOLATILE AS 'SELECT clock_timestamp()';

CREATE FUNCTION me() RETURNS integer LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = dealbox, pg_temp AS
'SELECT id FROM pc WHERE login = session_user AND state <> ''left''';

-- The PC that asks, if nobody has declared it lost: a PC that is stolen gets no sets.
CREATE FUNCTION me_here() RETURNS integer LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = dealbox, pg_temp AS
'SELECT id FROM pc WHERE login = session_user AND state = ''here''';

-- Also of a lost PC, which still reports.
CREATE FUNCTION has_set(of_job integer) RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = dealbox, pg_temp AS
'SELECT EXISTS (SELECT FROM sealed_set s WHERE s.job = of_job AND s.pc = me())';

-- What became of the PC with that public key, the number of its last request, and the key of the event as
-- it was sealed for it. Also of a PC that has left: it needs the key to report what it dealt, and its user
-- may be another PC now.
CREATE FUNCTION admission_of(my_key bytea) RETURNS TABLE (state text, asked bigint, sealed_key bytea)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = dealbox, pg_temp AS
'SELECT p.state, p.asked, p.sealed_key FROM pc p WHERE p.login = session_user AND p.public_key = my_key
	ORDER BY p.id DESC LIMIT 1';

-- Finds the PC that asks, and locks its row: requests of one PC run one after the other.
CREATE FUNCTION enter(my_token uuid) RETURNS pc LANGUAGE plpgsql
SET search_path = dealbox, pg_temp AS $$
DECLARE
	mine pc;
BEGIN
	SELECT * INTO mine FROM pc WHERE token = my_token AND login = session_user FOR UPDATE;
	IF NOT FOUND THEN
		RAISE EXCEPTION 'this PC has not joined the event as user %', session_user
			USING ERRCODE = 'DB001', HINT = 'join with `dealbox event join`';
	END IF;
	UPDATE pc SET seen = clock() WHERE id = mine.id;
	RETURN mine;
END $$;

-- The same for a numbered request. Returns the PC, with asked = my_ask if it was answered before.
-- The answer may have been lost, so a PC repeats a request until it has one.
CREATE FUNCTION enter_numbered(my_token uuid, my_ask bigint, my_nonce uuid) RETURNS pc
LANGUAGE plpgsql SET search_path = dealbox, pg_temp AS $$
DECLARE
	mine pc := enter(my_token);
BEGIN
	IF mine.state = 'left' THEN
		IF my_ask <> mine.asked OR my_nonce <> mine.nonce THEN
			RAISE EXCEPTION 'this PC has left the event' USING ERRCODE = 'DB001',
				HINT = 'join again with `dealbox event join`';
		END IF;
	ELSIF my_ask > mine.asked + 1 THEN
		RAISE EXCEPTION 'the server has forgotten requests of this PC: an old backup was restored'
			USING ERRCODE = 'DB003', HINT = 'take no board; docs/event.md says how to go on';
	ELSIF my_ask < mine.asked OR (my_ask = mine.asked AND my_nonce IS DISTINCT FROM mine.nonce) THEN
		RAISE EXCEPTION 'two PCs use the identity of %', mine.name
			USING ERRCODE = 'DB004', HINT = 'stop the copy, and let it join under its own name';
	END IF;
	IF my_ask = mine.asked + 1 THEN
		UPDATE pc SET asked = my_ask, nonce = my_nonce WHERE id = mine.id;
	END IF;
	RETURN mine;
END $$;

-- The jobs whose set the PC with that token was given. Also of a PC that has left, which still reports.
CREATE FUNCTION jobs_of(my_token uuid) RETURNS SETOF job LANGUAGE plpgsql SECURITY DEFINER
SET search_path = dealbox, pg_temp AS $$
DECLARE
	mine pc := enter(my_token);
BEGIN
	RETURN QUERY SELECT j.* FROM job j JOIN sealed_set s ON s.job = j.id WHERE s.pc = mine.id;
END $$;

-- What the PC with that token has reported, also if it has left: its user may be another PC now, whose
-- reports are others.
CREATE FUNCTION records_of(my_token uuid) RETURNS TABLE (machine text, insertion bigint, job integer,
	number integer, copy integer, standing text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = dealbox, pg_temp AS $$
DECLARE
	mine pc := enter(my_token);
BEGIN
	RETURN QUERY SELECT r.machine, r.insertion, r.job, r.number, r.copy, r.standing FROM record r
		WHERE r.pc = mine.id ORDER BY r.machine COLLATE "C", r.insertion;
END $$;

-- ---- for PCs ------------------------------------------------------------------------------------

-- A repetition with the same token changes nothing.
CREATE FUNCTION join_event(my_name text, my_key bytea, my_token uuid) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = dealbox, pg_temp AS $$
BEGIN
	IF EXISTS (SELECT FROM pc WHERE token = my_token AND login = session_user AND name = my_name
			AND public_key = my_key AND state <> 'left') THEN
		RETURN;
	END IF;
	IF EXISTS (SELECT FROM pc WHERE login = session_user AND state <> 'left') THEN
		RAISE EXCEPTION 'a PC has joined as user % already', session_user
			USING ERRCODE = 'DB004', HINT = 'each PC needs a user of its own in PostgreSQL';
	END IF;
	IF EXISTS (SELECT FROM pc WHERE name = my_name) THEN
		RAISE EXCEPTION 'there is or was a PC of the name %', my_name
			USING ERRCODE = 'DB004', HINT = 'choose another name';
	END IF;
	INSERT INTO pc (name, login, token, public_key, until, seen)
		VALUES (my_name, session_user, my_token, my_key, clock(), clock());
END $$;

-- Tells the PCs that listen that there may be something to take, or that it is another's now.
CREATE FUNCTION tell_pcs() RETURNS void LANGUAGE sql AS $$ SELECT pg_notify('dealbox', '') $$;

-- Let a PC rest, or take copies again. No copy moves here: the PC itself gives back what it has not
-- begun, when it hears of this, so that nothing that it may be dealing goes to another.
-- Returns false if that PC has said too much: people press a button less often.
CREATE FUNCTION set_rest(of_pc integer, to_rest boolean, whom_pc integer, whom text) RETURNS boolean
LANGUAGE plpgsql SET search_path = dealbox, pg_temp AS $$
DECLARE
	most constant integer := 1000;	-- of one PC
	now_rests boolean := (SELECT r.rest FROM rest r WHERE r.pc = of_pc ORDER BY r.id DESC LIMIT 1);
BEGIN
	-- a repetition changes nothing, nor who was the first
	IF coalesce(now_rests, false) = to_rest THEN
		RETURN true;
	END IF;
	IF (SELECT count(*) FROM rest r WHERE r.by_pc = whom_pc) >= most THEN
		RETURN false;
	END IF;
	INSERT INTO rest (pc, rest, by_pc, by_name, at) VALUES (of_pc, to_rest, whom_pc, whom, clock());
	PERFORM tell_pcs();
	RETURN true;
END $$;

-- The number of a PC that takes part. Without a lock, as everything about rest.
CREATE FUNCTION pc_number(of_name text) RETURNS integer LANGUAGE plpgsql SET search_path = dealbox, pg_temp AS $$
DECLARE
	number integer := (SELECT p.id FROM pc p WHERE p.name = of_name AND p.state <> 'left');
BEGIN
	IF number IS NULL THEN
		RAISE EXCEPTION 'there is no PC % in the event', of_name USING ERRCODE = 'DB007',
			HINT = '`dealbox event status` lists them';
	END IF;
	RETURN number;
END $$;

-- Returns what the PC with that token is to do, and who has said so ("" = nobody). said: somebody at that
-- PC has said it himself, and nobody has heard it yet. Also of a PC that has left: nothing follows then.
CREATE FUNCTION rest_of(my_token uuid, said boolean) RETURNS TABLE (rest boolean, rest_by text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = dealbox, pg_temp AS $$
DECLARE
	my_id integer;
	my_name text;
BEGIN
	SELECT p.id, p.name INTO my_id, my_name FROM pc p WHERE p.token = my_token AND p.login = session_user;
	IF NOT FOUND THEN
		RAISE EXCEPTION 'this PC has not joined the event as user %', session_user
			USING ERRCODE = 'DB001', HINT = 'join with `dealbox event join`';
	END IF;
	-- one that has said too much is told what counts
	IF said IS NOT NULL THEN
		PERFORM set_rest(my_id, said, my_id, my_name);
	END IF;
	RETURN QUERY SELECT coalesce(r.rest, false), coalesce(r.by_name, '') FROM (SELECT) one LEFT JOIN
		(SELECT x.rest, x.by_name FROM rest x WHERE x.pc = my_id ORDER BY x.id DESC LIMIT 1) r ON true;
END $$;

-- Somebody at the PC with that token wants another one to rest, or to take copies again. Only a PC that
-- was admitted, and is neither lost nor removed. It could hold all copies itself, so this is no new power.
CREATE FUNCTION wish_rest(my_token uuid, of_name text, to_rest boolean) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = dealbox, pg_temp AS $$
DECLARE
	my_id integer;
	my_name text;
BEGIN
	SELECT p.id, p.name INTO my_id, my_name FROM pc p WHERE p.token = my_token AND p.login = session_user
		AND p.state = 'here' AND p.sealed_key IS NOT NULL;
	IF NOT FOUND THEN
		RAISE EXCEPTION 'this PC has no say about others: it is not admitted, or was declared lost or removed'
			USING ERRCODE = 'DB007', HINT = 'ask the director';
	END IF;
	IF NOT set_rest(pc_number(of_name), to_rest, my_id, my_name) THEN
		RAISE EXCEPTION 'this PC has let others rest as often as a PC may' USING ERRCODE = 'DB007',
			HINT = 'ask the director';
	END IF;
END $$;

-- Takes up to `want` more copies, and extends the lease on all that this PC holds; 0 only does the
-- latter. Returns the copies that this request got, and how long the lease lasts, in ms; 0 if
-- somebody has declared the PC lost. That is an answer, not an error: it uses up the number of the
-- request, so that both sides go on from the same one.
-- of_jobs: only of these. but_jobs, but_numbers, but_copies: not these copies, which the PC would give
-- back.
CREATE FUNCTION take(my_token uuid, my_ask bigint, my_nonce uuid, want integer,
	of_jobs integer[] DEFAULT NULL, but_jobs integer[] DEFAULT '{}', but_numbers integer[] DEFAULT '{}',
	but_copies integer[] DEFAULT '{}')
RETURNS TABLE (lease_ms bigint, job integer, number integer, copy integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = dealbox, pg_temp AS $$
#variable_conflict use_column
DECLARE
	mine pc := enter_numbered(my_token, my_ask, my_nonce);
	the_lease interval := (SELECT e.lease FROM event e);
	most constant integer := 1000;	-- of one request: no PC takes the whole event at once
	of_job integer;
	got integer;
BEGIN
	IF mine.state = 'lost' THEN
		RETURN QUERY SELECT 0::bigint, NULL::integer, NULL::integer, NULL::integer;
		RETURN;
	END IF;
	IF mine.state = 'left' THEN
		RAISE EXCEPTION 'this PC has left the event' USING ERRCODE = 'DB001';
	END IF;
	want := least(want, most);
	IF mine.asked < my_ask THEN
		FOR of_job IN
			SELECT j.id FROM job j JOIN sealed_set s ON s.job = j.id AND s.pc = mine.id
			WHERE j.open AND (of_jobs IS NULL OR j.id = ANY (of_jobs))
			ORDER BY j.priority DESC, j.id
		LOOP
			EXIT WHEN want <= 0;
			WITH free AS (
				SELECT c.number AS n, c.copy AS k FROM copy c
				WHERE c.job = of_job AND c.pc IS NULL AND c.record IS NULL AND
					-- which keeps it a filter of the index's order
					(cardinality(but_jobs) = 0 OR NOT EXISTS (
					SELECT FROM unnest(but_jobs, but_numbers, but_copies) AS but(j, n, k)
					WHERE c.job = but.j AND c.number = but.n AND c.copy = but.k))
				ORDER BY c.number, c.copy LIMIT want FOR UPDATE SKIP LOCKED)
			UPDATE copy c SET pc = mine.id, ask = my_ask FROM free
				WHERE c.job = of_job AND c.number = free.n AND c.copy = free.k;
			GET DIAGNOSTICS got = ROW_COUNT;
			want := want - got;
		END LOOP;
	END IF;
	UPDATE pc SET until = clock() + the_lease WHERE id = mine.id;
	RETURN QUERY SELECT (extract(epoch FROM the_lease) * 1000)::bigint, c.job, c.number, c.copy
		FROM (SELECT) one LEFT JOIN copy c ON c.pc = mine.id AND c.ask = my_ask
		ORDER BY 2, 3, 4;
END $$;

-- Gives copies back. The PC has forgotten them before it asks, so none of them can be begun.
-- Returns true if somebody has declared the PC lost.
CREATE FUNCTION give_back(my_token uuid, my_ask bigint, my_nonce uuid, jobs integer[],
	numbers integer[], copies integer[]) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = dealbox, pg_temp AS $$
DECLARE
	mine pc := enter_numbered(my_token, my_ask, my_nonce);
BEGIN
	IF mine.asked < my_ask THEN
		UPDATE copy c SET pc = NULL, ask = NULL
			FROM unnest(jobs, numbers, copies) AS gone(j, n, k)
			WHERE c.job = gone.j AND c.number = gone.n AND c.copy = gone.k AND c.pc = mine.id;
		PERFORM tell_pcs();
	END IF;
	RETURN mine.state = 'lost';
END $$;

-- Reports an insertion that has ended. Returns its standing. A repetition changes nothing.
CREATE FUNCTION report(my_token uuid, my_machine text, my_insertion bigint, my_job integer,
	my_number integer, my_copy integer, my_hash uuid, my_outcome text, my_at timestamptz)
RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = dealbox, pg_temp AS $$
DECLARE
	mine pc := enter(my_token);
	old record;
	place copy;
	the_standing text := 'no board';
	new_id bigint;
BEGIN
	SELECT r.* INTO old FROM record r
		WHERE r.pc = mine.id AND r.machine = my_machine AND r.insertion = my_insertion;
	IF FOUND THEN
		IF (old.job, old.number, old.copy, old.outcome) =
		   (my_job, my_number, my_copy, my_outcome) THEN
			RETURN old.standing;
		END IF;
		RAISE EXCEPTION 'insertion % of machine % was reported differently before', my_insertion, my_machine
			USING ERRCODE = 'DB004', HINT = 'two machines have the same name, or a ledger was restored';
	END IF;
	SELECT c.* INTO place FROM copy c
		WHERE c.job = my_job AND c.number = my_number AND c.copy = my_copy FOR UPDATE;
	IF NOT FOUND THEN
		RAISE EXCEPTION 'job % has no board %, copy %', my_job, my_number, my_copy USING ERRCODE = 'DB007';
	END IF;
	IF my_hash IS DISTINCT FROM (SELECT b.hash FROM board b WHERE b.job = my_job AND b.number = my_number) THEN
		RAISE EXCEPTION 'board % of job % is another deal than that of the event', my_number, my_job
			USING ERRCODE = 'DB008', HINT = 'keep this board out of play';
	END IF;
	IF my_outcome = 'exact' THEN
		the_standing := CASE WHEN place.record IS NULL AND (place.pc IS NULL OR place.pc = mine.id)
			THEN 'counts' ELSE 'surplus' END;
	END IF;
	INSERT INTO record (machine, insertion, pc, job, number, copy, outcome, standing, at, received)
		VALUES (my_machine, my_insertion, mine.id, my_job, my_number, my_copy, my_outcome,
			the_standing, my_at, clock()) RETURNING id INTO new_id;
	IF the_standing = 'counts' THEN
		UPDATE copy c SET pc = NULL, ask = NULL, record = new_id
			WHERE c.job = my_job AND c.number = my_number AND c.copy = my_copy;
	END IF;
	RETURN the_standing;
END $$;

-- Takes a report back: the PC doubts the board. If it counted, the copy is open again: the PC need not
-- hear that it would hold it, and then nobody would deal it. Returns true if the PC holds it anyway.
CREATE FUNCTION withdraw(my_token uuid, my_machine text, my_insertion bigint) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = dealbox, pg_temp AS $$
DECLARE
	mine pc := enter(my_token);
	old record;
	holds boolean;
BEGIN
	SELECT r.* INTO old FROM record r WHERE r.machine = my_machine AND r.insertion = my_insertion
		AND r.pc = mine.id AND r.outcome = 'exact' FOR UPDATE;
	IF NOT FOUND THEN
		RAISE EXCEPTION 'this PC has reported no exact board of insertion % of machine %',
			my_insertion, my_machine USING ERRCODE = 'DB007';
	END IF;
	UPDATE record SET standing = 'withdrawn' WHERE id = old.id;
	IF old.standing = 'counts' THEN
		UPDATE copy c SET record = NULL WHERE c.record = old.id;
		PERFORM tell_pcs();
	END IF;
	SELECT EXISTS (SELECT FROM copy c WHERE c.job = old.job AND c.number = old.number
		AND c.copy = old.copy AND c.pc = mine.id) INTO holds;
	RETURN holds;
END $$;

-- The last head of a log that this user has reported: a PC that was rebuilt goes on with its log under
-- another name. Another user may have reported heads of any log, and nothing here checks a signature.
CREATE FUNCTION last_head(my_origin text) RETURNS text LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = dealbox, pg_temp AS
'SELECT h.note FROM head h JOIN pc p ON p.id = h.pc
	WHERE h.origin = my_origin AND p.login = session_user ORDER BY h.id DESC LIMIT 1';

-- Reports the head of a log. Also one that is older than the last: that an old copy of a PC's disk
-- runs is to be seen.
CREATE FUNCTION report_head(my_token uuid, my_origin text, my_key bytea, my_note text, my_proof text)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = dealbox, pg_temp AS $$
DECLARE
	mine pc := enter(my_token);
	-- of one PC: far more than boards need, and no full disk
	most_heads constant integer := 10000;
	most_bytes constant bigint := 32 << 20;
	size bigint := octet_length(my_origin) + octet_length(my_note) + coalesce(octet_length(my_proof), 0);
BEGIN
	IF my_note IS NOT DISTINCT FROM last_head(my_origin) THEN
		RETURN;
	END IF;
	IF mine.heads >= most_heads OR mine.head_bytes + size > most_bytes THEN
		RAISE EXCEPTION 'PC % has reported as many heads as a PC may', mine.name USING ERRCODE = '22023';
	END IF;
	UPDATE pc SET heads = heads + 1, head_bytes = head_bytes + size WHERE id = mine.id;
	INSERT INTO head (pc, origin, key, note, proof, received)
		VALUES (mine.id, my_origin, my_key, my_note, my_proof, clock());
END $$;

-- Says what all machines of this PC do, and how many of its copies it has not begun.
CREATE FUNCTION tell_machines(my_token uuid, names text[], states text[], paces integer[], not_begun integer)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = dealbox, pg_temp AS $$
DECLARE
	mine pc := enter(my_token);
	most constant integer := 64;	-- machines of a PC
BEGIN
	IF cardinality(names) > most THEN
		RAISE EXCEPTION 'a PC has at most % machines', most USING ERRCODE = '22023';
	END IF;
	UPDATE pc SET open = not_begun WHERE id = mine.id;
	DELETE FROM machine m WHERE m.pc = mine.id AND m.name <> ALL (names);
	INSERT INTO machine (pc, name, state, pace, told)
		SELECT mine.id, n, s, p, clock() FROM unnest(names, states, paces) AS m(n, s, p)
		ON CONFLICT (pc, name) DO UPDATE SET state = excluded.state, pace = excluded.pace,
			told = excluded.told;
END $$;

-- A lost PC has forgotten what it held, and may take copies again.
CREATE FUNCTION back(my_token uuid, my_ask bigint, my_nonce uuid) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = dealbox, pg_temp AS $$
DECLARE
	mine pc := enter_numbered(my_token, my_ask, my_nonce);
BEGIN
	IF mine.asked < my_ask AND mine.state <> 'left' THEN
		UPDATE copy SET pc = NULL, ask = NULL WHERE pc = mine.id;
		UPDATE pc SET state = 'here', until = clock() WHERE id = mine.id;
	END IF;
END $$;

-- The PC has forgotten what it held, and asks for no more.
CREATE FUNCTION leave(my_token uuid, my_ask bigint, my_nonce uuid) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = dealbox, pg_temp AS $$
DECLARE
	mine pc := enter(my_token);
BEGIN
	-- the answer was lost, and the PC may have forgotten the number that it asked with
	IF mine.state = 'left' THEN
		RETURN;
	END IF;
	mine := enter_numbered(my_token, my_ask, my_nonce);
	UPDATE copy SET pc = NULL, ask = NULL WHERE pc = mine.id;
	UPDATE pc SET state = 'left', until = clock() WHERE id = mine.id;
	PERFORM tell_pcs();
END $$;

-- ---- for the director ---------------------------------------------------------------------------

-- A job: copies of each board, which are numbered, with the hashes of their deals.
CREATE FUNCTION add_job(of_session text, of_copies integer, of_priority integer, is_replay boolean,
	numbers integer[], hashes uuid[]) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = dealbox, pg_temp AS $$
DECLARE
	new_job integer;
	repeat_number integer;
	repeat_session text;
	repeat_job integer;
BEGIN
	-- one after the other, so that neither of two directors misses the deals of the other
	LOCK TABLE job IN SHARE ROW EXCLUSIVE MODE;
	INSERT INTO job (session, copies, priority, replay)
		VALUES (of_session, of_copies, of_priority, is_replay) RETURNING id INTO new_job;
	INSERT INTO board (job, number, hash) SELECT new_job, n, h FROM unnest(numbers, hashes) AS b(n, h);
	-- in one order, so that two directors cannot block each other
	INSERT INTO deal (hash, session) SELECT h, of_session FROM unnest(hashes) AS h ORDER BY h
		ON CONFLICT (hash) DO NOTHING;
	IF NOT is_replay THEN
		SELECT b.number, d.session INTO repeat_number, repeat_session FROM board b JOIN deal d USING (hash)
			WHERE b.job = new_job AND d.session <> of_session ORDER BY b.number LIMIT 1;
		IF FOUND THEN
			RAISE EXCEPTION 'board % has the deal of a board of session %', repeat_number, repeat_session
				USING ERRCODE = 'DB005', HINT = 'Law 6D2: deal another, or say that the job is a replay';
		END IF;
	END IF;
	-- also a replay: who runs this again, because an answer was lost, must not deal all of it twice
	SELECT b.number, o.job INTO repeat_number, repeat_job FROM board b JOIN board o USING (hash)
		JOIN job j ON j.id = o.job WHERE b.job = new_job AND o.job <> new_job AND j.session = of_session
		ORDER BY b.number LIMIT 1;
	IF FOUND THEN
		RAISE EXCEPTION 'the deal of board % is in job % of session % already', repeat_number, repeat_job,
			of_session USING ERRCODE = 'DB005', HINT = '`dealbox event status` lists the jobs';
	END IF;
	INSERT INTO copy (job, number, copy) SELECT new_job, b.number, k
		FROM board b, generate_series(1, of_copies) AS k WHERE b.job = new_job;
	RETURN new_job;
END $$;

CREATE FUNCTION pc_named(of_name text) RETURNS pc LANGUAGE plpgsql
SET search_path = dealbox, pg_temp AS $$
DECLARE
	that pc;
BEGIN
	SELECT * INTO that FROM pc WHERE name = of_name AND state <> 'left' FOR UPDATE;
	IF NOT FOUND THEN
		RAISE EXCEPTION 'there is no PC % in the event', of_name USING ERRCODE = 'DB007',
			HINT = '`dealbox event status` lists them';
	END IF;
	RETURN that;
END $$;

-- Gives a PC the key of the event, or the set of a job, sealed for its public key.
CREATE FUNCTION give_key(of_name text, of_key bytea, of_sealed bytea, of_admission bytea) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = dealbox, pg_temp AS $$
DECLARE
	that pc := pc_named(of_name);
BEGIN
	IF that.state = 'lost' THEN
		RAISE EXCEPTION 'PC % was declared lost', of_name USING ERRCODE = 'DB007',
			HINT = 'let it leave, and join under another name';
	END IF;
	IF that.public_key <> of_key THEN
		RAISE EXCEPTION 'PC % has another key now', of_name USING ERRCODE = 'DB004',
			HINT = 'compare its key again';
	END IF;
	UPDATE pc SET sealed_key = of_sealed, admission = of_admission WHERE id = that.id;
	PERFORM tell_pcs();
END $$;

CREATE FUNCTION give_set(of_name text, of_job integer, of_sealed bytea) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = dealbox, pg_temp AS $$
DECLARE
	that pc := pc_named(of_name);
BEGIN
	IF that.state = 'lost' THEN
		RAISE EXCEPTION 'PC % was declared lost meanwhile', of_name USING ERRCODE = 'DB007',
			HINT = 'run it again';
	END IF;
	INSERT INTO sealed_set (job, pc, sealed) VALUES (of_job, that.id, of_sealed)
		ON CONFLICT (job, pc) DO UPDATE SET sealed = of_sealed;
	PERFORM tell_pcs();
END $$;

-- Somebody says that a PC will not report. Time alone never takes a copy from a PC; but before its
-- lease has run out, and a board that it may have begun has ended, nobody can say that.
-- Returns the number of copies that are open again.
CREATE FUNCTION lose(of_name text) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = dealbox, pg_temp AS $$
DECLARE
	that pc := pc_named(of_name);
	left_ms bigint := ceil(extract(epoch FROM that.until + (SELECT margin FROM event) - clock()) * 1000);
	opened integer;
BEGIN
	IF that.state = 'here' AND left_ms > 0 THEN
		RAISE EXCEPTION '% may still deal: its lease, with the margin, ends in % s', of_name, (left_ms + 999) / 1000
			USING ERRCODE = 'DB006', HINT = 'wait, or let it give its copies back';
	END IF;
	UPDATE copy SET pc = NULL, ask = NULL WHERE pc = that.id;
	GET DIAGNOSTICS opened = ROW_COUNT;
	UPDATE pc SET state = 'lost', lost_by = session_user, lost_at = clock() WHERE id = that.id;
	PERFORM tell_pcs();
	RETURN opened;
END $$;

-- Ends a PC for good: it was stolen, was rebuilt, or runs from an old copy of its disk. Its user may
-- then join as a PC of another name. What it still reports is heard. Returns as lose() does.
CREATE FUNCTION remove(of_name text) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = dealbox, pg_temp AS $$
DECLARE
	opened integer := lose(of_name);
BEGIN
	UPDATE pc SET state = 'left' WHERE name = of_name;
	RETURN opened;
END $$;

-- Makes sure that a set which is about to be given is the set of the job.
CREATE FUNCTION check_set(of_job integer, numbers integer[], hashes uuid[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = dealbox, pg_temp AS $$
DECLARE
	wrong integer;
BEGIN
	SELECT coalesce(b.number, s.n) INTO wrong FROM unnest(numbers, hashes) AS s(n, h)
		FULL JOIN (SELECT * FROM board WHERE job = of_job) b ON b.number = s.n AND b.hash = s.h
		WHERE b.number IS NULL OR s.n IS NULL ORDER BY 1 LIMIT 1;
	IF FOUND THEN
		RAISE EXCEPTION 'board % of these deals is not that of job %', wrong, of_job USING ERRCODE = 'DB008',
			HINT = 'give the deal files with which the job was added';
	END IF;
END $$;

-- A closed job gives no more copies; what PCs hold of it they deal and report.
CREATE FUNCTION open_job(of_job integer, is_open boolean) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = dealbox, pg_temp AS $$
BEGIN
	UPDATE job SET open = is_open WHERE id = of_job;
	IF NOT FOUND THEN
		RAISE EXCEPTION 'there is no job % in the event', of_job USING ERRCODE = 'DB007',
			HINT = '`dealbox event status` lists them';
	END IF;
	PERFORM tell_pcs();
END $$;

-- The director wants a PC to rest, or to take copies again.
CREATE FUNCTION let_rest(of_name text, to_rest boolean) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = dealbox, pg_temp AS $$
BEGIN
	PERFORM set_rest(pc_number(of_name), to_rest, NULL, session_user);
END $$;

-- Somebody has taken a surplus board out of play.
CREATE FUNCTION dismiss(of_record bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = dealbox, pg_temp AS $$
BEGIN
	UPDATE record SET standing = 'withdrawn', withdrawn_by = session_user, withdrawn_at = clock()
		WHERE id = of_record AND standing = 'surplus';
	IF NOT FOUND THEN
		RAISE EXCEPTION 'there is no surplus board %', of_record USING ERRCODE = 'DB007',
			HINT = '`dealbox event status` lists them';
	END IF;
END $$;

-- Somebody has found the board that counts for a copy wrong, or missing, and has made sure that it is
-- not in play. The copy is open again. Returns the PC that had reported it.
CREATE FUNCTION void(of_job integer, of_number integer, of_copy integer) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = dealbox, pg_temp AS $$
DECLARE
	false_one record;
BEGIN
	-- as withdraw() does, the record first
	SELECT r.* INTO false_one FROM record r WHERE r.job = of_job AND r.number = of_number
		AND r.copy = of_copy AND r.standing = 'counts' FOR UPDATE;
	IF NOT FOUND THEN
		RAISE EXCEPTION 'no board counts for job %, board %, copy %', of_job, of_number, of_copy
			USING ERRCODE = 'DB007';
	END IF;
	UPDATE record SET standing = 'withdrawn', withdrawn_by = session_user, withdrawn_at = clock()
		WHERE id = false_one.id;
	UPDATE copy c SET record = NULL WHERE c.record = false_one.id;
	PERFORM tell_pcs();
	RETURN (SELECT p.name FROM pc p WHERE p.id = false_one.pc);
END $$;

-- ---- what may be seen ---------------------------------------------------------------------------

CREATE VIEW status_event AS SELECT version, name, made, rehearsal, encode(key_check, 'hex') AS key_check,
	(extract(epoch FROM lease) * 1000)::bigint AS lease_ms,
	(extract(epoch FROM margin) * 1000)::bigint AS margin_ms FROM event;

CREATE VIEW status_pc AS SELECT p.name, p.state,
	floor(extract(epoch FROM clock() - p.seen))::bigint AS silent_s,
	greatest(ceil(extract(epoch FROM p.until - clock())), 0)::bigint AS lease_s,
	(SELECT count(*) FROM copy c WHERE c.pc = p.id) AS held,
	(SELECT count(*) FROM record r WHERE r.pc = p.id AND r.standing = 'counts') AS recorded,
	(SELECT count(*) FROM record r WHERE r.pc = p.id AND r.standing = 'surplus') AS surplus,
	p.sealed_key IS NOT NULL AS admitted, p.lost_by, p.open,
	coalesce((SELECT r.rest FROM rest r WHERE r.pc = p.id ORDER BY r.id DESC LIMIT 1), false) AS rest,
	coalesce((SELECT r.by_name FROM rest r WHERE r.pc = p.id ORDER BY r.id DESC LIMIT 1), '') AS rest_by
	FROM pc p WHERE p.state <> 'left' OR EXISTS (SELECT FROM record r WHERE r.pc = p.id);

CREATE VIEW status_job AS SELECT j.id, j.session, j.priority, j.copies, j.open,
	(SELECT count(*) FROM board b WHERE b.job = j.id) AS boards,
	(SELECT count(*) FROM copy c WHERE c.job = j.id AND c.record IS NOT NULL) AS recorded,
	(SELECT count(*) FROM copy c WHERE c.job = j.id AND c.pc IS NOT NULL) AS held
	FROM job j;

CREATE VIEW status_machine AS SELECT p.name AS pc, m.name, m.state, m.pace,
	greatest(floor(extract(epoch FROM clock() - m.told)), 0)::bigint AS silent_s
	FROM machine m JOIN pc p ON p.id = m.pc WHERE p.state <> 'left';

-- Copies that somebody has to deal; each of the two parts has an index.
CREATE VIEW status_left AS SELECT (SELECT count(*) FROM copy c JOIN job j ON j.id = c.job AND j.open
	WHERE c.pc IS NULL AND c.record IS NULL) + (SELECT count(*) FROM copy c WHERE c.pc IS NOT NULL) AS copies;

-- Boards that exist besides the one that counts; and those that a director has taken out of play.
CREATE VIEW surplus AS SELECT r.id, r.job, j.session, r.number, r.copy, p.name AS pc, r.machine,
	r.insertion, r.at, r.withdrawn_by, r.withdrawn_at
	FROM record r JOIN job j ON j.id = r.job JOIN pc p ON p.id = r.pc
	WHERE r.standing = 'surplus' OR r.withdrawn_by IS NOT NULL;

-- Copies that nobody holds, and of which a PC has a board that a director has taken out of play.
CREATE VIEW status_again AS SELECT c.job, j.session, c.number, c.copy, string_agg(DISTINCT p.name, ', ') AS pcs
	FROM record r JOIN copy c ON (c.job, c.number, c.copy) = (r.job, r.number, r.copy)
	JOIN job j ON j.id = c.job JOIN pc p ON p.id = r.pc
	WHERE r.withdrawn_by IS NOT NULL AND c.record IS NULL AND c.pc IS NULL GROUP BY 1, 2, 3, 4;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA dealbox FROM PUBLIC;
GRANT EXECUTE ON FUNCTION me, me_here, has_set, admission_of, jobs_of, records_of, join_event, take, give_back, report, last_head, report_head, withdraw, back, leave, tell_machines, rest_of, wish_rest
	TO dealbox_pc;
GRANT EXECUTE ON FUNCTION add_job, give_key, give_set, check_set, open_job, lose, remove, let_rest, dismiss, void
	TO dealbox_director;
-- views run functions as whoever reads them
GRANT EXECUTE ON FUNCTION clock TO dealbox_pc, dealbox_director;
GRANT SELECT ON status_event, status_pc, status_job, status_machine, status_left, status_again, surplus
	TO dealbox_pc, dealbox_director;

ALTER TABLE pc ENABLE ROW LEVEL SECURITY;
ALTER TABLE job ENABLE ROW LEVEL SECURITY;
ALTER TABLE board ENABLE ROW LEVEL SECURITY;
ALTER TABLE deal ENABLE ROW LEVEL SECURITY;
ALTER TABLE sealed_set ENABLE ROW LEVEL SECURITY;
ALTER TABLE record ENABLE ROW LEVEL SECURITY;
ALTER TABLE copy ENABLE ROW LEVEL SECURITY;
ALTER TABLE machine ENABLE ROW LEVEL SECURITY;
ALTER TABLE rest ENABLE ROW LEVEL SECURITY;
ALTER TABLE head ENABLE ROW LEVEL SECURITY;

-- A PC sees its own; the director sees everything but tokens, hashes and what is sealed.
GRANT SELECT (id, name, state, asked, until, public_key, sealed_key) ON pc TO dealbox_pc;
GRANT SELECT ON sealed_set, record, copy, head TO dealbox_pc;
GRANT SELECT ON job TO dealbox_pc;
CREATE POLICY own ON pc FOR SELECT TO dealbox_pc USING (id = me());
CREATE POLICY own ON sealed_set FOR SELECT TO dealbox_pc USING (pc = me_here());
CREATE POLICY own ON job FOR SELECT TO dealbox_pc USING (has_set(id));
CREATE POLICY own ON record FOR SELECT TO dealbox_pc USING (pc = me());
CREATE POLICY own ON head FOR SELECT TO dealbox_pc USING (pc = me());
CREATE POLICY own ON copy FOR SELECT TO dealbox_pc USING (pc = me());
GRANT SELECT (id, name, login, state, lost_by, lost_at, until, seen, public_key, admission) ON pc TO dealbox_director;
GRANT SELECT (job, number) ON board TO dealbox_director;
GRANT SELECT (job, pc) ON sealed_set TO dealbox_director;
GRANT SELECT ON job, record, copy, head TO dealbox_director;
CREATE POLICY everything ON pc FOR SELECT TO dealbox_director USING (true);
CREATE POLICY everything ON job FOR SELECT TO dealbox_director USING (true);
CREATE POLICY everything ON board FOR SELECT TO dealbox_director USING (true);
CREATE POLICY everything ON sealed_set FOR SELECT TO dealbox_director USING (true);
CREATE POLICY everything ON record FOR SELECT TO dealbox_director USING (true);
CREATE POLICY everything ON head FOR SELECT TO dealbox_director USING (true);
CREATE POLICY everything ON copy FOR SELECT TO dealbox_director USING (true);
