import { Migration } from '@mikro-orm/migrations'

/** What a request that accepts no capture was answered, sealed by the gateway; null while it is still being served. */
const answers = `alter table idempotency_key add column answer bytea`

/** Answers that are given again where the same request is sent again. */
export class KeepAnswers extends Migration {
  override up(): void {
    this.addSql(answers)
  }
}
