select id, account_id as "accountId", pool, lane, status, options ->> 'format' as format, token_hash as "tokenHash",
       attempts, unended_starts as "unendedStarts", object_key as "objectKey", period::text, batch_id as "batchId",
       (extract(epoch from clock_timestamp() - created_at) * 1000)::float8 as "ageMs", traceparent,
       cache_key is not null as "mayLead"
  from capture where id = any ($1::uuid[]) and follows is null order by id for update
