-- A fingerprint of the pepper, so that no key is hashed with another.

-- At most one row: an HMAC under the pepper that the keys are hashed with.
create table key_pepper (
  id integer primary key default 1 constraint key_pepper_id_check check (id = 1),
  fingerprint bytea not null
);
