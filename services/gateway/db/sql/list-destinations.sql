select d.id, d.name, d.endpoint, d.region, d.bucket, d.path_style, d.prefix, d.access_key_id,
       iso_time(d.created_at) as created_at,
       (select json_build_object(
                 'at', iso_time(u.created_at),
                 'status', case u.state when 'delivered' then 'succeeded' else u.state end,
                 'attempts', u.attempts, 'http_status', a.status, 'error', a.error)
          from webhook_delivery u left join webhook_attempt a on a.delivery_id = u.id and a.number = u.attempts
         where u.upload_destination_id = d.id order by u.created_at desc limit 1) as last_upload
  from upload_destination d where d.account_id = $1 order by d.created_at, d.id
