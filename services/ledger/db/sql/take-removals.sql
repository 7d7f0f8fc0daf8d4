-- An account that is moved here may bring an object back whose removal was ordered while its records were not visible yet; and of an
-- attempt that was handed back another run may store the same object.
with due as (
  select r.key,
         exists (select from stored_object s where s.key = r.key) as needed,
         exists (select from capture c
                   where c.id = split_part(r.key, '/', 3)::uuid and c.part = 'open'
                     and c.status in ('pending', 'processing')) as open
    from (select key from object_removal where not_before <= now() order by not_before limit $1 for update skip locked) as r
), withdrawn as (
  delete from object_removal where key in (select key from due where needed)
), postponed as (
  update object_removal set not_before = now() + $3 * interval '1 second'
   where key in (select key from due where open and not needed)
)
update object_removal set not_before = now() + $2 * interval '1 second'
 where key in (select key from due where not needed and not open)
returning key
