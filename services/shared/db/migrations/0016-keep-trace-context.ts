import { Migration } from '@mikro-orm/migrations'

/** The trace context of a capture's request, for the relay, the ledger and the sender of webhooks. */
export class KeepTraceContext extends Migration {
  override up(): void {
    this.addSql('alter table capture add column traceparent text;')
  }
}
