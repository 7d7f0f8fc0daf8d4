-- allowed: the plan of account $2 includes signed links; found: capture $1 belongs to the account.
select 'signed_urls' = any (p.features) as allowed,
       exists (select from capture c where c.id = $1 and c.account_id = a.id) as found
  from account a
  join plan p on p.slug = a.plan
 where a.id = $2
