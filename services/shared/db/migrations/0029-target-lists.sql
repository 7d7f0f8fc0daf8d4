-- Which targets the captures of an account may reach: {"allow": […], "deny": […]} in normal form, null if both are empty, and the
-- SHA-256 of that text, by which a gateway knows whether it has them.
alter table account add column targets json, add column targets_sha256 bytea;
