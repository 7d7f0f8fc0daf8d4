-- Running captures by the end of their attempt's budget: the ledger looks every second for those that are past it.

drop index capture_processing;
create index capture_deadline on capture
  (((attempt_started_at at time zone 'utc') + budget_ms * interval '1 millisecond'), id) where status = 'processing';
-- Captures that were handed back and wait for their next attempt, by age.
create index capture_handed_back on capture (created_at) where status = 'processing' and unended_starts = 0;
