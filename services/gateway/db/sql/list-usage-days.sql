-- What the captures of the account $1 became, by UTC day of their acceptance: of the $3 days up to $2.
select to_char(day, 'YYYY-MM-DD') as day, outcome, captures
  from usage_day
 where account_id = $1 and day <= $2::date and day > $2::date - $3::integer
 order by day, outcome
