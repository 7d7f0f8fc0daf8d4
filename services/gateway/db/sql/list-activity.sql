-- A page of an account's activity, newest first: at most $8 entries, of the key $4 and the operation $5 if given, created from $2 to
-- $3, both included, and older than the position ($6, $7).
select id, iso_time(at) as at, key_id, session_id, client, operation, object_id, status, code
  from activity
 where account_id = $1
   and ($2::timestamptz is null or at >= $2::timestamptz)
   and ($3::timestamptz is null or at <= $3::timestamptz)
   and ($4::uuid is null or key_id = $4::uuid)
   and ($5::text is null or operation = $5::text)
   and ($6::timestamptz is null or (at, id) < ($6::timestamptz, $7::uuid))
 order by at desc, id desc
 limit $8
