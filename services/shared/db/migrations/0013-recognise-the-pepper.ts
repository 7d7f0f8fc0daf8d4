import { Migration } from '@mikro-orm/migrations'

/** At most one row: an HMAC under the pepper that the keys are hashed with. */
const pepper = `
create table key_pepper (
  id integer primary key default 1 constraint key_pepper_id_check check (id = 1),
  fingerprint bytea not null
);
`

/** A fingerprint of the pepper, so that no key is hashed with another. */
export class RecognisePepper extends Migration {
  override up(): void {
    this.addSql(pepper)
  }
}
