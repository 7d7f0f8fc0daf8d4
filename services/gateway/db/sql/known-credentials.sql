-- The credentials of accounts here, valid or not, whose names begin with the prefixes of 8 bytes $2, each of the kind in $1 at the same
-- place: keys, sessions and sign-in links by hash, keys and captures by id. Names are in hexadecimal. An account that was moved away and
-- is erased is not here; one that is leaving, or has not arrived, is, but is not served.
select q.kind || ' ' || encode(q.prefix, 'hex') as id,
       json_agg(json_build_object('name', encode(n.name, 'hex'), 'isServed', a.moving_at is null or a.disabled_at is null)) as names
  from unnest($1::text[], $2::bytea[]) as q (kind, prefix)
 cross join lateral (
    select q.prefix || '\xffffffffffffffffffffffffffffffffffffffffffffffff' as last_hash,
           (encode(q.prefix, 'hex') || '0000000000000000')::uuid as first_id,
           (encode(q.prefix, 'hex') || 'ffffffffffffffff')::uuid as last_id) as r
 cross join lateral (
    select k.key_hash as name, k.account_id from api_key k
     where q.kind = 'key' and k.key_hash between q.prefix and r.last_hash
    union all
    select s.token_hash, s.account_id from console_session s
     where q.kind = 'session' and s.token_hash between q.prefix and r.last_hash
    union all
    select l.token_hash, l.account_id from sign_in_link l
     where q.kind = 'sign_in' and l.token_hash between q.prefix and r.last_hash
    union all
    select uuid_send(k.id), k.account_id from api_key k
     where q.kind = 'link' and k.id between r.first_id and r.last_id
    union all
    select uuid_send(c.id), c.account_id from capture c
     where q.kind = 'image' and c.id between r.first_id and r.last_id
  ) as n
  left join account a on a.id = n.account_id
 where a.moving_at is null or a.erasing_at is null
 group by 1
