-- What a result quotes of the page and the request: its final URL, warnings and metadata, and the message of a worker. The worker seals
-- it for gateway and sender; the message of the ledger, which quotes nothing, stays plain. What was stored in plain text goes.
alter table capture add column sealed_result text;
alter table capture drop column final_url, drop column warnings, drop column metadata, drop column error_message;
alter table capture add column error_message text;
