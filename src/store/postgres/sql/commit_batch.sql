-- Applies a batch of changes, each whole or not at all: for each 0 where it is done, 1 where something
-- it rests on has changed, 2 where somebody else is changing that now. Nothing here ever waits for a
-- lock of another: what is there is locked as a row, what is not by its name.
--
-- The locks come in one order, numbered from 1: what is written exclusively, what is only read shared.
-- The operations come in the order of their changes, checks (1) before what they guard: an event (2),
-- a record (3), a removal (4). What touches a record that an earlier change of the batch was to write, and
-- did not, was decided on that change: it has changed too, whatever revision is there by now. Another process
-- may have written one of the same number, and it is another. Once the batch itself has written it nobody
-- else can: then its revision tells.
create or replace function askway.commit_batch(
  changes integer,
  lock_kinds smallint[], lock_keys bytea[], lock_names bigint[], lock_writes boolean[],
  op_changes integer[], ops smallint[], op_locks integer[], revisions bigint[], times bigint[],
  notices bigint[], bodies bytea[], lists text[],
  mark bytea, mark_time bigint
) returns smallint[]
language plpgsql
set search_path = askway, pg_catalog
as $$
declare
  became smallint[] := array_fill(0::smallint, array[changes]);
  mine bigint[];
  held bigint[];
  written integer[] := '{}';
  unwritten integer[] := '{}';
  o record;
  has bigint;
begin
  select coalesce(array_agg(locked.n), '{}') into mine from (
    select l.n
    from unnest(lock_kinds, lock_keys, lock_writes) with ordinality as l (kind, key, writes, n)
    join records r on r.kind = l.kind and r.key = l.key
    where l.writes order by l.n for update of r skip locked
  ) as locked;
  select mine || coalesce(array_agg(locked.n), '{}') into mine from (
    select l.n
    from unnest(lock_kinds, lock_keys, lock_writes) with ordinality as l (kind, key, writes, n)
    join records r on r.kind = l.kind and r.key = l.key
    where not l.writes order by l.n for share of r skip locked
  ) as locked;
  -- Whoever makes a record has its name exclusively until that is committed.
  select coalesce(array_agg(named.n), '{}') into held from (
    select l.n, case when l.writes then pg_try_advisory_xact_lock(l.name)
      else pg_try_advisory_xact_lock_shared(l.name) end as got
    from unnest(lock_names, lock_writes) with ordinality as l (name, writes, n)
    left join unnest(mine) as m (n) on m.n = l.n
    where m.n is null order by l.n offset 0
  ) as named where not named.got;
  -- A later look than the first: what is there now and was not locked is somebody else's.
  select held || coalesce(array_agg(l.n), '{}') into held
  from unnest(lock_kinds, lock_keys) with ordinality as l (kind, key, n)
  join records r on r.kind = l.kind and r.key = l.key
  left join unnest(mine) as m (n) on m.n = l.n
  where m.n is null;

  for o in
    select p.change, p.op, p.lock, l.kind, l.key, p.revision, p.time, p.notice, p.body, p.lists
    from unnest(op_changes, ops, op_locks, revisions, times, notices, bodies, lists)
      with ordinality as p (change, op, lock, revision, time, notice, body, lists, n)
    join unnest(lock_kinds, lock_keys) with ordinality as l (kind, key, n) on l.n = p.lock
    order by p.n
  loop
    if became[o.change] <> 0 then
      if o.op <> 1 and o.lock <> all (written) then
        unwritten := unwritten || o.lock;
      end if;
      continue;
    end if;
    if o.op <> 1 then
      written := written || o.lock;
    end if;
    case o.op
    when 1 then
      if o.lock = any (held) then
        became[o.change] := 2;
      elsif o.lock = any (unwritten) then
        became[o.change] := 1;
      elsif o.revision is not null then
        select r.revision into has from records r where r.kind = o.kind and r.key = o.key;
        if coalesce(has, 0) <> o.revision then
          became[o.change] := 1;
        end if;
      end if;
    when 2 then
      insert into events (ask, revision, body) values (o.key, o.revision, o.body);
    when 3 then
      insert into records (kind, key, revision, time, notice, body)
      values (o.kind, o.key, o.revision, o.time, o.notice, o.body)
      on conflict (kind, key) do update set revision = excluded.revision, time = excluded.time,
        notice = excluded.notice, body = excluded.body;
      if o.lists is not null then
        delete from places p where p.kind = o.kind and p.key = o.key
          and p.list <> all (string_to_array(o.lists, E'\n'));
        insert into places (list, key, kind)
        select u.list, o.key, o.kind from unnest(string_to_array(o.lists, E'\n')) as u (list)
        on conflict do nothing;
      end if;
    when 4 then
      delete from records r where r.kind = o.kind and r.key = o.key;
      delete from places p where p.kind = o.kind and p.key = o.key;
      if o.kind = 1 then
        delete from events e where e.ask = o.key;
      end if;
    end case;
  end loop;

  -- Where somebody else is writing it, theirs is as good.
  if mark is not null then
    perform 1 from records r where r.kind = 10 and r.key = '' for update skip locked;
    if found then
      update records r set time = mark_time, body = mark
      where r.kind = 10 and r.key = '' and r.time <= mark_time;
    else
      insert into records (kind, key, revision, time, body) values (10, '', 1, mark_time, mark)
      on conflict do nothing;
    end if;
  end if;
  return became;
end
$$;
