select busiest.account_id as account, busiest.waiting, busiest.processing,
       coalesce((select u.settled from usage u where u.account_id = busiest.account_id order by u.period desc limit 1), 0)::float8
         as completed
  from (select account_id, sum(admitted + waiting - processing)::integer as waiting, sum(processing)::integer as processing
          from lane_meter where stage > 0
         group by account_id order by sum(admitted + waiting) desc, account_id limit $1) as busiest
