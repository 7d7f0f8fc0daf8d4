-- A return from the provider makes a sign-in link too, of the person with this `iss` and `sub`: what begins a session is a click on a page
-- that names the account.
alter table sign_in_link
  add column issuer text,
  add column subject text,
  add constraint sign_in_link_person_check check ((issuer is null) = (subject is null));
