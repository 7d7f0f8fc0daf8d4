-- Accounts to erase: the ledger deletes what is theirs, a batch at a time, and then the account.

alter table account add column erasing_at timestamptz;
create index account_erasing on account (erasing_at) where erasing_at is not null;
