import { DatabaseSync } from 'node:sqlite'

/** A vulnerability of all versions of a package before `fixed`; `major` is the release of Debian for a `deb`, whose name is a source package. */
export type Advisory = {
  readonly id: string
  readonly ecosystem: 'deb' | 'npm'
  readonly name: string
  readonly fixed: string
  readonly major?: string
}

const tables = `
  CREATE TABLE blobs (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
  CREATE TABLE db_metadata (build_timestamp DATETIME NOT NULL, model INTEGER NOT NULL, revision INTEGER NOT NULL, addition INTEGER NOT NULL);
  CREATE TABLE providers (id TEXT PRIMARY KEY, version TEXT, processor TEXT, date_captured DATETIME, input_digest TEXT);
  CREATE TABLE vulnerability_handles (id INTEGER PRIMARY KEY, name TEXT NOT NULL, status TEXT NOT NULL, provider_id TEXT NOT NULL, blob_id INTEGER);
  CREATE TABLE operating_systems (id INTEGER PRIMARY KEY, name TEXT, release_id TEXT, major_version TEXT, minor_version TEXT,
    label_version TEXT, codename TEXT, channel TEXT);
  CREATE TABLE packages (id INTEGER PRIMARY KEY, ecosystem TEXT, name TEXT);
  CREATE TABLE affected_package_handles (id INTEGER PRIMARY KEY, vulnerability_id INTEGER NOT NULL, operating_system_id INTEGER,
    package_id INTEGER, blob_id INTEGER);
`

/** Writes a database of grype's schema 6 with these advisories; `grype db import` adds the tables that are missing. */
export const writeAdvisories = (file: string, advisories: readonly Advisory[]): void => {
  using database = new DatabaseSync(file)
  database.exec(tables)
  const now = new Date().toISOString().replace('T', ' ').replace('Z', '+00:00')
  database.prepare('INSERT INTO db_metadata VALUES (?, 6, 1, 9)').run(now)
  for (const provider of ['debian', 'github'])
    database.prepare("INSERT INTO providers VALUES (?, '1', 'test', ?, '')").run(provider, now)
  for (const [index, { id, ecosystem, name, fixed, major }] of advisories.entries()) {
    const row = index + 1
    const ranges = [
      {
        version: { type: ecosystem === 'deb' ? 'dpkg' : 'npm', constraint: `< ${fixed}` },
        fix: { version: fixed, state: 'fixed' },
      },
    ]
    const blob = database.prepare('INSERT INTO blobs (value) VALUES (?)')
    const vulnerability = blob.run(JSON.stringify({ id, severities: [{ scheme: 'CHMLN', value: 'high', rank: 1 }] }))
    const affected = blob.run(JSON.stringify({ cves: [id], ranges }))
    database
      .prepare("INSERT INTO vulnerability_handles VALUES (?, ?, 'active', ?, ?)")
      .run(row, id, ecosystem === 'deb' ? 'debian' : 'github', vulnerability.lastInsertRowid)
    database.prepare('INSERT INTO packages VALUES (?, ?, ?)').run(row, ecosystem, name)
    if (major !== undefined)
      database
        .prepare("INSERT INTO operating_systems VALUES (?, 'debian', 'debian', ?, '', '', '', '')")
        .run(row, major)
    database
      .prepare('INSERT INTO affected_package_handles VALUES (?, ?, ?, ?, ?)')
      .run(row, row, major === undefined ? null : row, row, affected.lastInsertRowid)
  }
}
