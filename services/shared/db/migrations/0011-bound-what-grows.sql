-- Counts that do not overflow, erasure by index, and vacuum that keeps up with removal.

-- 1,000 captures per second of one account pass four bytes within a month.
alter table usage alter column reserved type bigint, alter column settled type bigint;

-- What an account is erased by.
create index webhook_delivery_account on webhook_delivery (account_id);
create index batch_account on batch (account_id);
create index audit_entry_target on audit_entry (target);

-- PostgreSQL vacuums a table once a fifth of it is dead, by default: of a hundred million captures that is after twenty
-- million ends. Large tables are vacuumed after a hundredth, and analyzed after a fiftieth, so that the oldest part of
-- an index is never long behind its removals. Tables that fill and empty within seconds are vacuumed by number, not by
-- share: what is dead there is walked over by everybody who looks for what is due.
alter table capture set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);
alter table stored_object set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);
alter table webhook_delivery set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);
alter table webhook_attempt set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);
alter table idempotency_key set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);
alter table batch set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);
alter table outbox set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
alter table object_removal set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
alter table deletion set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
alter table late_cleanup set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
