-- Uploads of captures that went with their partition: those from before the oldest one, by the index of each destination, deleted ones
-- included. What remove_ended removes takes its uploads along.
with recursive destination as (
  (select upload_destination_id as id from webhook_delivery where upload_destination_id is not null order by 1 limit 1)
  union all
  select (select d.upload_destination_id from webhook_delivery d where d.upload_destination_id > p.id
           order by d.upload_destination_id limit 1)
    from destination p where p.id is not null
), oldest as materialized (
  select min(begins_at) as begins_at from capture_partitions()
)
delete from webhook_delivery where id in (
    select id from webhook_delivery where id = any (array(
      select u.id from oldest o, destination p cross join lateral (
          select d.id from webhook_delivery d
           where d.upload_destination_id = p.id and d.created_at < o.begins_at and d.state <> 'pending'
             -- Of a gateway whose clock was ahead.
             and not exists (select from capture c where c.id = d.capture_id)
           order by d.created_at limit $1) as u
       limit $1))
       for update skip locked)
  returning id
