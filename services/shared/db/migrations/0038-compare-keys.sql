-- Fingerprints of the keys with which an installation encrypts and signs what it stores, by setting: an account moves only to an
-- installation that has them.
create table key_fingerprint (
  setting text not null,
  fingerprint bytea not null,
  primary key (setting, fingerprint)
);
