-- The first layout. Times are milliseconds since the epoch, ids are their twelve bytes, which begin
-- with their time; bodies are what `store/record.rs` makes of a record.

create table askway.marker (
  one boolean primary key default true check (one),
  format integer not null,
  least_reader integer not null,
  written_by text not null,
  incarnation text not null
);

-- One row for each record; of an ask the state that changes, its content and history being events.
-- `time` is when time alone will change it, of the clock's mark the time itself.
create table askway.records (
  kind smallint not null,
  key bytea not null,
  revision bigint not null,
  time bigint,
  notice bigint,
  body bytea,
  primary key (kind, key)
) with (fillfactor = 85);

-- What is due: asks (1) and sessions (2), in one order.
create index due on askway.records (time, kind, key) where time is not null and kind <= 2;
create index to_tell on askway.records (notice, key) where notice is not null;
-- Ids as they are spelled, the random half first.
create index spelled on askway.records ((substring(key from 7) || substring(key from 1 for 6)))
  where kind = 1;

-- What happened to asks, each written once.
create table askway.events (
  ask bytea not null,
  revision bigint not null,
  body bytea not null,
  primary key (ask, revision)
);

-- Which lists have an ask or a session, by the list's name.
create table askway.places (
  list text collate "C" not null,
  key bytea not null,
  kind smallint not null,
  primary key (list, kind, key)
);
create index places_of on askway.places (kind, key);
