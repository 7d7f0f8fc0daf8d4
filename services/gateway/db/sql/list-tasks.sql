-- What the work in the background has left to do: how much, at most 10,000, and since when the first waits. A cursor has only a time.
select 'erase_accounts' as name,
       (select count(*)::integer from (select from account where erasing_at is not null limit 10000) as due) as waiting,
       (select iso_time(min(erasing_at)) from account where erasing_at is not null) as since
union all
select 'publish_captures',
       (select count(*)::integer from (select from outbox where relay_at <= now() limit 10000) as due),
       (select iso_time(min(relay_at)) from outbox where relay_at <= now())
union all
select 'deliver_webhooks',
       (select count(*)::integer from (select from webhook_queue where due_at <= now() limit 10000) as due),
       (select iso_time(min(due_at)) from webhook_queue where due_at <= now())
union all
select 'remove_objects',
       (select count(*)::integer from (select from object_removal where not_before <= now() limit 10000) as due),
       (select iso_time(min(not_before)) from object_removal where not_before <= now())
union all
select 'remove_deleted_captures',
       (select count(*)::integer from (select from deletion where due_at <= now() limit 10000) as due),
       (select iso_time(min(due_at)) from deletion where due_at <= now())
union all
select 'sweep_orphans', null, (select iso_time(began_at) from orphan_sweep)
