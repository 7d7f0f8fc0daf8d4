import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const folder = 'clients/typescript'

/**
 * The JavaScript and declarations compiled from clients/typescript/src, by path; they are committed because Node strips no types
 * below node_modules. Throws if a source does not compile, or if dist has a file without a source.
 */
export const compiledClient = (root: string): Record<string, string> => {
  const created = mkdtempSync(join(tmpdir(), 'compiled-client-'))
  try {
    execFileSync(join(root, 'node_modules/.bin/tsc'), ['--project', join(root, folder), '--outDir', created], {
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    const names = readdirSync(created)
    const stale = readdirSync(join(root, folder, 'dist')).filter((name) => !names.includes(name))
    if (stale.length > 0)
      throw new Error(`remove from ${folder}/dist, since no source compiles to it: ${stale.join(', ')}`)
    const texts = names.map((name) => [`${folder}/dist/${name}`, readFileSync(join(created, name), 'utf8')])
    return Object.fromEntries(texts) as Record<string, string>
  } finally {
    rmSync(created, { recursive: true })
  }
}
