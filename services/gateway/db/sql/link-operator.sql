-- Uses up the sign-in with hash $1, which can come back for $2 seconds, and makes a link with token hash $6 for $7 seconds that starts the
-- session $8 of an operator with role $5, whom the provider knows by issuer $3 and subject $4. No row if the sign-in was used before.
with used as (
  insert into used_sign_in (state_hash, expires_at) values ($1, now() + make_interval(secs => $2))
  on conflict do nothing returning state_hash)
insert into sign_in_link (token_hash, role, session_id, issuer, subject, expires_at)
select $6, $5, $8, $3, $4, now() + make_interval(secs => $7) from used
returning session_id
