select extract(epoch from least(
         (select min(due_at) from webhook_queue where due_at is not null),
         (select min(leased_until) from webhook_delivery where leased_until is not null)
       ) - clock_timestamp())::float8 * 1000 as ms
