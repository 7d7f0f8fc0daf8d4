-- What was accepted ever, by pool and lane, when a minute began: from the differences hourly, daily and weekly patterns are predicted.
create table accepted_count (
  minute timestamptz not null,
  pool text not null,
  lane text not null,
  accepted bigint not null,
  primary key (minute, pool, lane)
);
