-- What a key may do, some of capture, read and manage; keys of before may do everything.
alter table api_key add column scopes text[] not null default '{capture,read,manage}';

-- To the minute, but not before the creation.
update api_key set last_used_at = created_at where last_used_at < created_at;
