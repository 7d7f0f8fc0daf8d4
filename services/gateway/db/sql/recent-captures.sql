-- What event streams of the accounts $1 compare: the newest $2 captures, and the $3 oldest ones of each status that have not ended.
-- One more of each is read, which shows whether there are more.
select a.id,
       (select coalesce(json_agg(json_build_object('id', c.id, 'status', c.status, 'createdAt', iso_time(c.created_at))), '[]')
          from (select id, status, created_at from list_any(a.id, '-infinity', '00000000-0000-0000-0000-000000000000',
                                                            'infinity', 'ffffffff-ffff-ffff-ffff-ffffffffffff', false, 0, $2 + 1)
                 order by created_at desc, id desc) c) as newest,
       (select coalesce(json_agg(json_build_object('id', c.id, 'status', c.status, 'createdAt', iso_time(c.created_at))), '[]')
          from (select id, status, created_at from capture where account_id = a.id and status = 'processing' and part = 'open'
                 order by created_at, id limit $3 + 1) c) as processing,
       (select coalesce(json_agg(json_build_object('id', c.id, 'status', c.status, 'createdAt', iso_time(c.created_at))), '[]')
          from (select id, status, created_at from capture where account_id = a.id and status = 'pending' and part = 'open'
                 order by created_at, id limit $3 + 1) c) as pending
  from unnest($1::uuid[]) as a (id)
