delete from used_sign_in where state_hash in (
    select state_hash from used_sign_in where expires_at <= now() order by expires_at limit $1 for update skip locked)
  returning state_hash
