-- Pools that an operator has paused: workers begin none of their captures. A row whose time is over is removed by the ledger.
create table pool_pause (
  pool text primary key,
  since timestamptz not null,
  -- The actor as in the audit log.
  paused_by text not null,
  reason text not null,
  -- Null: until an operator resumes the pool.
  until timestamptz,
  -- When the queue began to hold the captures back; null: not yet.
  applied_at timestamptz
);
