import { DatabaseSync } from 'node:sqlite'

/**
 * A vulnerability of all versions of a package before `fixed`. A `deb` is a source package of the release `major` of Debian; an
 * `application` is named `vendor:product` (CPE).
 */
export type Advisory = {
  readonly id: string
  readonly ecosystem: 'deb' | 'npm' | 'application'
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
  CREATE TABLE cpes (id INTEGER PRIMARY KEY, part TEXT NOT NULL, vendor TEXT, product TEXT NOT NULL, edition TEXT, language TEXT,
    software_edition TEXT, target_hardware TEXT, target_software TEXT, other TEXT);
  CREATE TABLE affected_cpe_handles (id INTEGER PRIMARY KEY, vulnerability_id INTEGER NOT NULL, cpe_id INTEGER, blob_id INTEGER);
`

const providers = { deb: 'debian', npm: 'github', application: 'nvd' }
const versions = { deb: 'dpkg', npm: 'npm', application: 'semver' }

/** Writes a database of grype's schema 6 with these advisories; `grype db import` adds the tables that are missing. */
export const writeAdvisories = (file: string, advisories: readonly Advisory[]): void => {
  using database = new DatabaseSync(file)
  database.exec(tables)
  const insert = (table: string, ...values: readonly (string | number | null)[]) =>
    database.prepare(`INSERT INTO ${table} VALUES (${values.map(() => '?').join(', ')})`).run(...values)
  const now = new Date().toISOString().replace('T', ' ').replace('Z', '+00:00')
  insert('db_metadata', now, 6, 1, 9)
  for (const provider of Object.values(providers)) insert('providers', provider, '1', 'test', now, '')
  for (const [index, { id, ecosystem, name, fixed, major }] of advisories.entries()) {
    const [row, vulnerability, affected] = [index + 1, 2 * index + 1, 2 * index + 2]
    const version = { type: versions[ecosystem], constraint: `< ${fixed}` }
    const severities = [{ scheme: 'CHMLN', value: 'high', rank: 1 }]
    insert('blobs', vulnerability, JSON.stringify({ id, severities }))
    insert(
      'blobs',
      affected,
      JSON.stringify({ cves: [id], ranges: [{ version, fix: { version: fixed, state: 'fixed' } }] }),
    )
    insert('vulnerability_handles', row, id, 'active', providers[ecosystem], vulnerability)
    if (ecosystem === 'application') {
      const [vendor = '', product = ''] = name.split(':')
      insert('cpes', row, 'a', vendor, product, '', '', '', '', '', '')
      insert('affected_cpe_handles', row, row, row, affected)
      continue
    }
    insert('packages', row, ecosystem, name)
    if (major !== undefined) insert('operating_systems', row, 'debian', 'debian', major, '', '', '', '')
    insert('affected_package_handles', row, row, major === undefined ? null : row, row, affected)
  }
}
