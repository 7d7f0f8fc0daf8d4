-- Uses up the sign-in with hash $1, which can come back for $2 seconds, and starts a session of an operator with role $3: id $4, token
-- hash $5, for at most $6 seconds, $7 without a request. The audit log records it for actor $10 with the detail $11. No row if the
-- sign-in was used before.
with used as (
  insert into used_sign_in (state_hash, expires_at) values ($1, now() + make_interval(secs => $2))
  on conflict do nothing returning state_hash
), started as (
  insert into console_session
    (id, token_hash, role, created_at, last_seen_at, expires_at, idle_expires_at, address, user_agent)
  select $4::uuid, $5, $3, now(), date_trunc('minute', now()), now() + make_interval(secs => $6),
         now() + make_interval(secs => least($6, $7)), $8, $9
    from used
  returning id)
insert into audit_entry (id, at, actor, action, target, detail)
select gen_random_uuid(), now(), $10, 'operator.sign_in', id::text, $11::jsonb from started
returning target
