-- A mark of each of the accounts $1 that differs whenever a capture was accepted, began, ended or was deleted in between: each of
-- these updates a meter or a count in its own transaction, whose number the row shows. Followers update none before they end, so
-- that the newest capture is part of the mark. Reads a few rows of small tables, and one of an index.
select a.id,
       concat_ws(' ',
         (select c.id from list_any(a.id, '-infinity', '00000000-0000-0000-0000-000000000000',
                                    'infinity', 'ffffffff-ffff-ffff-ffff-ffffffffffff', false, 0, 1) as c),
         (select m.xmin::text from account_meter m where m.account_id = a.id),
         (select sum(l.xmin::text::bigint) from lane_meter l where l.account_id = a.id),
         (select sum(c.xmin::text::bigint) from capture_count c where c.account_id = a.id)) as mark
  from unnest($1::uuid[]) as a (id)
