-- Refuses a change of an account that is being moved to another installation, whatever statement makes it: tables that only callers, operators and sign-ins
-- change have a trigger, functions that write others call it. Takes the account's row `for share`, with which the hold of a move conflicts: a change either commits before the hold begins, or
-- finds it. SQLSTATE SFMOV becomes 503 with Retry-After, see classify-error.ts. An account that is erased goes on, and so does a copy
-- that has not arrived, which is disabled since its hold began.
create function refuse_while_moving(p_account_id uuid) returns void language plpgsql as $$
declare
  v_moves boolean;
begin
  select a.moving_at is not null and a.erasing_at is null and a.disabled_at is distinct from a.moving_at into v_moves
    from account a where a.id = p_account_id for share;
  if v_moves then
    raise exception 'account % is being moved', p_account_id using errcode = 'SFMOV';
  end if;
end
$$;

-- Refuses, in tables that only callers, operators and sign-ins change, whatever statement it is. Arguments: columns that may change, since
-- they are times of use which a move may lose, or its own.
create function refuse_change_while_moving() returns trigger language plpgsql as $$
declare
  v_row constant jsonb := to_jsonb(case when tg_op = 'DELETE' then old else new end);
  -- Null without arguments.
  v_times constant text[] := coalesce(tg_argv, '{}');
  v_account_id uuid;
begin
  if tg_op <> 'UPDATE' or v_row - v_times <> to_jsonb(old) - v_times then
    v_account_id := case tg_table_name
      when 'account' then (v_row ->> 'id')::uuid
      when 'link_secret' then (select k.account_id from api_key k where k.id = (v_row ->> 'key_id')::uuid)
      when 'webhook_secret' then (select w.account_id from webhook w where w.id = (v_row ->> 'webhook_id')::uuid)
      else (v_row ->> 'account_id')::uuid end;
    perform refuse_while_moving(v_account_id);
  end if;
  return case when tg_op = 'DELETE' then old else new end;
end
$$;

create trigger account_moves before update or delete on account
  for each row execute function refuse_change_while_moving('moving_at', 'disabled_at', 'erasing_at');
create trigger member_moves before insert or update or delete on member
  for each row execute function refuse_change_while_moving('last_sign_in_at');
create trigger api_key_moves before insert or update or delete on api_key
  for each row execute function refuse_change_while_moving('last_used_at');
create trigger link_secret_moves before insert or update or delete on link_secret
  for each row execute function refuse_change_while_moving();
create trigger webhook_moves before insert or update or delete on webhook
  for each row execute function refuse_change_while_moving('last_delivery_at');
create trigger webhook_secret_moves before insert or update or delete on webhook_secret
  for each row execute function refuse_change_while_moving();
create trigger upload_destination_moves before insert or update or delete on upload_destination
  for each row execute function refuse_change_while_moving();
create trigger receiver_change_moves before insert or update or delete on receiver_change
  for each row execute function refuse_change_while_moving();
