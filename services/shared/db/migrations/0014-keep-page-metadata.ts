import { Migration } from '@mikro-orm/migrations'

/** What a page says of itself, where a capture asked for it. Bounded by the report that brings it. */
export class KeepPageMetadata extends Migration {
  override up(): void {
    this.addSql('alter table capture add column metadata jsonb;')
  }
}
