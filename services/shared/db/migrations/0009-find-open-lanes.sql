-- Lanes that are found by what they hold, and arrivals that are counted without them.

-- Most lanes belong to accounts that have nothing in the queue. The index holds the others; the column changes only
-- when a lane begins or ceases to wait or to be open, so nearly all updates of a meter stay inside its page all the
-- same.
alter table lane_meter
  drop column accepted,
  add column stage smallint not null
    generated always as (case when waiting <> 0 then 2 when admitted <> 0 or processing <> 0 then 1 else 0 end) stored;
create index lane_meter_open on lane_meter (stage) where stage > 0;

-- What was accepted ever, by pool: counted without a row that all accounts would wait for.
create sequence accepted_standard;
create sequence accepted_stealth;
create sequence accepted_proxied;
