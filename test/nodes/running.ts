// Runs all tests of a running release in one process, to share one cluster. Each file can also be run alone.
import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import './confinement.test.ts'
import './rollout.test.ts'
import './upgrade.test.ts'
import './loss.test.ts'

/** Files that start their own clusters. */
const others = ['images.test.ts', 'compose.test.ts', 'install.test.ts']

t.test('tests of a running release: all files are imported here', (t) => {
  const text = readFileSync(import.meta.filename, 'utf8')
  const all = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.test.ts') && !others.includes(name))
  for (const name of all) t.ok(text.includes(`import './${name}'`), name)
  t.end()
})
