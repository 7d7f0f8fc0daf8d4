-- Whether the provider has identified the person of a session. Owners may add anybody as a member and use the link, which leads into their
-- own account alone. Sessions of before switch accounts once the person has signed in again.
alter table console_session add column by_provider boolean not null default false;
