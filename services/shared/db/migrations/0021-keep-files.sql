-- Files that a capture has stored behind its image, in the same object: name, bytes, digest; bounded by the report that brings them.

alter table capture add column files jsonb;
