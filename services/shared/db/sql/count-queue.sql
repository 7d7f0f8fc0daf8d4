select a.id as account_id, a.name, sum(l.admitted + l.waiting - l.processing)::integer as pending,
       sum(l.processing)::integer as processing
  from lane_meter l join account a on a.id = l.account_id
 where l.stage > 0
 group by a.id, a.name having sum(l.admitted + l.waiting) > 0
 order by sum(l.admitted + l.waiting) desc, a.id limit $1
