select b.id, b.total, b.processing, b.completed, b.failed, iso_time(b.created_at) as created_at,
  (select coalesce(json_agg(json_build_object('index', c.batch_index, 'id', c.id, 'status', c.status, 'url', c.url,
      'options', c.options, 'created_at', iso_time(c.created_at)) order by c.batch_index), '[]')
     from capture c where c.batch_id = b.id) as screenshots
  from batch b where b.id = $1 and b.account_id = $2
