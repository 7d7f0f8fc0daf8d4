-- Counts how often a delivery was taken: a sender's writes name the take that they belong to.

alter table webhook_delivery add column takes integer not null default 0;
