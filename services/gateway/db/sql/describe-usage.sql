-- What the accounts $1 have used of this month's quota, and how many of their captures wait and run.
select a.id as "accountId", coalesce(u.reserved + u.settled, 0)::float8 as used, p.screenshots_per_month as "limit",
       coalesce(sum(l.admitted + l.waiting - l.processing), 0)::integer as pending, coalesce(sum(l.processing), 0)::integer as processing
  from account a
  join plan p on p.slug = a.plan
  left join usage u on u.account_id = a.id and u.period = date_trunc('month', now() at time zone 'utc')::date
  left join lane_meter l on l.account_id = a.id and l.stage > 0
 where a.id = any ($1::uuid[])
 group by a.id, u.reserved, u.settled, p.screenshots_per_month
