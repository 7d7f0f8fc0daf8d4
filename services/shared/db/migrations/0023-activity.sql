-- What authenticated requests did, a partition for each day in UTC (see sql/keep-activity.sql). No foreign keys: a row outlives its
-- key and session, and an insert checks nothing.

create table activity (
  at timestamptz not null,
  id uuid not null,
  account_id uuid not null,
  key_id uuid,
  session_id uuid,
  -- The client's IPv4 address, or its IPv6 /64.
  client text not null,
  operation text not null,
  -- The id in the path, or that of the capture that the request created.
  object_id uuid,
  status smallint not null,
  code text
) partition by range (at);
create index activity_account on activity (account_id, at desc, id desc);
