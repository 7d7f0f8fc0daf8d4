-- By which the counts of days whose captures were dropped are found.
create index capture_count_day on capture_count (day);
