update outbox set relay_at = now() + $2 * interval '1 millisecond' where capture_id in
    (select capture_id from outbox where relay_at <= now() order by relay_at limit $1 for update skip locked)
  returning capture_id as id
