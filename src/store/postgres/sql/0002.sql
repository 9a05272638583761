-- Who shares the store, each by a name that it makes at its start, and when it was seen last, in
-- milliseconds since the epoch; whether it carries notices.
create table askway.replicas (
  name text primary key,
  seen bigint not null,
  carries boolean not null
) with (fillfactor = 50);

-- Says that one is here, and gives all that were seen in the last `within` milliseconds. Who was not
-- seen for an hour is forgotten. It need not outlive a crash: it is said again in a second.
create function askway.present(me text, mine_carries boolean, within bigint)
returns table (name text, carries boolean)
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
  delete from replicas r where r.seen < now_ms - 3600000;
  return query select r.name, r.carries from replicas r where r.seen > now_ms - within;
end
$$;
