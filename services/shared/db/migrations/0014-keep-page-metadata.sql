-- What a page says of itself, where a capture asked for it. Bounded by the report that brings it.

alter table capture add column metadata jsonb;
