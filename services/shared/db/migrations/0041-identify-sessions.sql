-- Whether the provider has identified the person of a session. Owners may add anybody as a member and use the link, which leads into their
-- own account alone. Sessions of before switch accounts once the person has signed in again.
alter table console_session add column by_provider boolean not null default false;

-- Nor does such a link decide in which account a person begins; which of the times are of links is not known.
update member m set last_sign_in_at = null
 where exists (select from member o where o.issuer = m.issuer and o.subject = m.subject and o.account_id <> m.account_id);
