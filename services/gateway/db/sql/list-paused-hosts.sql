-- Webhook receivers that do not answer and are left alone for now, longest first; at most 100.
select q.host, q.account_id, a.name as account_name, q.unanswered, iso_time(q.paused_until) as paused_until
  from webhook_queue q join account a on a.id = q.account_id
 where q.paused_until > now() order by q.paused_until desc, q.host limit 100
