delete from sign_in_link where token_hash in (
    select token_hash from sign_in_link where expires_at <= now() order by expires_at limit $1 for update skip locked)
  returning token_hash
