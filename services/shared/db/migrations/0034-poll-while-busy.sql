-- Busy senders poll, and are not notified: notifications are sent under one lock, for which commits wait.

-- Until when a sender polls; one row, which senders move forward at most twice a second.
create table webhook_polling (polled_until timestamptz not null);
insert into webhook_polling values ('-infinity');

create or replace function wake_senders() returns trigger language plpgsql as $$
begin
  if not exists (select from webhook_polling where polled_until > clock_timestamp()) then
    notify shutterfleet_deliveries;
  end if;
  return null;
end
$$;

-- Deferred to the commit, so that a sender that has announced its end of polling need not poll for a whole transaction.
drop trigger webhook_arrival_wakes on webhook_arrival;
create constraint trigger webhook_arrival_wakes after insert on webhook_arrival
  deferrable initially deferred for each row execute function wake_senders();
