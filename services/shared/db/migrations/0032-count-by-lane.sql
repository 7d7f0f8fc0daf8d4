-- What waits and arrives, by lane: a batch may wait longer than a caller who holds a connection open.

-- What was accepted ever, by pool and lane. Those by pool alone, accepted_<pool>, remain for calls that began before the functions
-- were replaced; they are counted no more.
create sequence accepted_standard_interactive;
create sequence accepted_standard_normal;
create sequence accepted_standard_bulk;
create sequence accepted_stealth_interactive;
create sequence accepted_stealth_normal;
create sequence accepted_stealth_bulk;
create sequence accepted_proxied_interactive;
create sequence accepted_proxied_normal;
create sequence accepted_proxied_bulk;

-- What waits, by lane and age: the oldest of a lane is found without reading past a large batch in another one. Gateways and ledgers of
-- before still read capture_pending while they are updated.
create index capture_waiting on capture (pool, lane, created_at) where status = 'pending' and follows is null;
