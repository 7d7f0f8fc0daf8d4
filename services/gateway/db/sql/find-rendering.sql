-- What a view of a link reads: the state of its key $1, and of the captures with cache key $3, of which it needs one that is at most
-- $4 seconds old. $2: host of the page that shows it. Nothing unless the key's links are served, as find-link-keys.sql checks.
--
-- The idempotency key of its next capture names the newest one that it replaces: a capture that fails loses its cache key, so that it
-- is found by the idempotency key alone.
--
-- The image is current for as long as find_shareable shares it, and is served, stale, until its retention ends.
select s.nonce, case when s.previous_expires_at > clock_timestamp() then s.previous_nonce end as "previousNonce",
       k.key_hash as "keyHash",
       k.account_id as "accountId",
       'signed_urls' = any (p.features) as "hasFeature",
       allows_host(k.domains, $2) as "allowsHost",
       cardinality(k.domains) > 0 as "isRestricted",
       image.id as "imageId",
       image.object_key as "objectKey",
       image.file_size::float8 as "fileSize",
       image.sha256,
       image.mime_type as "mimeType",
       image.target_status as "targetStatus",
       image.options,
       image.files,
       iso_time(image.expires_at) as "expiresAt",
       extract(epoch from least(image.completed_at + least(image.cache_seconds, $4::integer) * interval '1 second',
                                image.expires_at) - clock_timestamp())::float8 as "currentSeconds",
       case when newest.status in ('pending', 'processing') then newest.id end as "runningId",
       attempt.key as "attemptKey",
       failed.id as "failedId",
       failed.error_code as "failedCode",
       extract(epoch from clock_timestamp() - failed.completed_at)::float8 as "failedSecondsAgo"
  from api_key k
  join account a on a.id = k.account_id
  join plan p on p.slug = a.plan
  join link_secret s on s.key_id = k.id
  left join lateral (
    select * from capture c
     where c.account_id = k.account_id and c.cache_key = $3 and c.status = 'completed' and c.expires_at > clock_timestamp()
       and exists (select from stored_object o where o.key = c.object_key and o.expires_at > clock_timestamp())
     order by c.created_at desc limit 1
  ) as image on true
  left join lateral (
    select * from capture c where c.account_id = k.account_id and c.cache_key = $3 order by c.created_at desc limit 1
  ) as newest on true
  cross join lateral (select format('link:%s:%s', encode($3, 'hex'), newest.id) as key) as attempt
  left join idempotency_key i on i.account_id = k.account_id and i.key = attempt.key
  left join capture failed on failed.id = i.capture_id and failed.status = 'failed'
 where k.id = $1
   and k.revoked_at is null
   and a.disabled_at is null
   and (k.expires_at is null or k.expires_at > clock_timestamp())
   and 'capture' = any (k.scopes)
