insert into object_removal (key, not_before)
select k.key, now() from unnest($1::text[]) as k (key)
 where not exists (select from stored_object s where s.key = k.key)
   and not exists (select from capture c where c.object_key = k.key and c.expires_at > now())
   and not exists (
     select from capture c where c.id = split_part(k.key, '/', 3)::uuid and c.status in ('pending', 'processing'))
    on conflict do nothing
returning key
