-- Who shares the store, each by a name that it makes at its start, and when it was seen last, in
-- milliseconds since the epoch; whether it carries notices.
create table askway.replicas (
  name text primary key,
  seen bigint not null,
  carries boolean not null
) with (fillfactor = 50);

-- What is attached to each of them: sessions that are held there (1), hosts that watch there (2).
create table askway.attached (
  kind smallint not null,
  name bytea not null,
  replica text not null,
  primary key (kind, name, replica)
);
create index attached_to on askway.attached (replica);

-- Says that one is here, and what was attached to it and left it since the last time, or all of it where
-- `whole`. Gives all that were seen in the last `within` milliseconds, and how much of one's own is
-- written down. Who was not seen for an hour is forgotten. Nothing of it need outlive a crash: it is said
-- again in a second.
create function askway.present(
  me text, mine_carries boolean, within bigint, whole boolean,
  came_kinds smallint[], came_names bytea[], left_kinds smallint[], left_names bytea[]
) returns table (name text, carries boolean, written bigint)
language plpgsql
set search_path = askway, pg_catalog
as $$
declare
  now_ms bigint := (extract(epoch from clock_timestamp()) * 1000)::bigint;
begin
  perform set_config('synchronous_commit', 'off', true);
  insert into replicas as r (name, seen, carries) values (me, now_ms, mine_carries)
  on conflict on constraint replicas_pkey
  do update set seen = excluded.seen, carries = excluded.carries;
  delete from attached a using replicas r where r.name = a.replica and r.seen < now_ms - 3600000;
  delete from replicas r where r.seen < now_ms - 3600000;
  if whole then
    delete from attached a where a.replica = me;
  end if;
  delete from attached a using unnest(left_kinds, left_names) as l (kind, name)
  where a.replica = me and a.kind = l.kind and a.name = l.name;
  insert into attached (kind, name, replica)
  select c.kind, c.name, me from unnest(came_kinds, came_names) as c (kind, name)
  on conflict do nothing;
  return query select r.name, r.carries, (select count(*) from attached a where a.replica = me)
    from replicas r where r.seen > now_ms - within;
end
$$;
