-- An account that is moved here may bring an object back whose removal was ordered while its records were not visible yet.
with due as (
  select r.key, exists (select from stored_object s where s.key = r.key) as needed
    from (select key from object_removal where not_before <= now() order by not_before limit $1 for update skip locked) as r
), withdrawn as (
  delete from object_removal where key in (select key from due where needed)
)
update object_removal set not_before = now() + $2 * interval '1 second' where key in (select key from due where not needed)
returning key
