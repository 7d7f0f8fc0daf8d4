-- Senders listen, and look by themselves only now and then.

-- Whoever has something to be delivered wakes the senders as its transaction commits. For each row, since a statement
-- that inserts none would wake them too; of one transaction they hear once.
create function wake_senders() returns trigger language plpgsql as $$
begin
  notify shutterfleet_deliveries;
  return null;
end
$$;
create trigger webhook_arrival_wakes after insert on webhook_arrival for each row execute function wake_senders();
