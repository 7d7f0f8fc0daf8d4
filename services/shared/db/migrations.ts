import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Migration } from '@mikro-orm/migrations'

const folder = join(import.meta.dirname, 'migrations')

/** Every migration in order, `migrations/<name>.sql`, under the name that databases record. */
export const migrations = readdirSync(folder)
  .filter((file) => file.endsWith('.sql'))
  .toSorted()
  .map((file) => ({
    name: file.replace(/\.sql$/, ''),
    class: class extends Migration {
      override async up(): Promise<void> {
        this.addSql(await readFile(join(folder, file), 'utf8'))
      }
    },
  }))
