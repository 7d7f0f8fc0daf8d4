-- Whether the plan of account $2 has links that need no API key, and whether capture $1 is the account's.
select 'signed_urls' = any (p.features) as allowed,
       exists (select from capture c where c.id = $1 and c.account_id = a.id) as found
  from account a
  join plan p on p.slug = a.plan
 where a.id = $2
