import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '../..')
const text = await readFile(join(root, 'clients/typescript/README.md'), 'utf8')

/** Names that the README takes for granted. */
const given = `import { renderLink, Shutterfleet, ShutterfleetError, verifyWebhook } from '@shutterfleet/client'
declare const shots: Shutterfleet
declare const request: { headers: Headers }
declare const url: string
declare const id: string
declare const keyId: string
declare const secret: string
declare const baseUrl: string
declare const body: string
declare const name: string
declare const endpoint: string
declare const bucket: string
declare const access_key_id: string
declare const secret_access_key: string
declare const urls: string[]
`

const blocks = [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code)
/** The calls of the table; the other code in it shows results, or names more methods. */
const calls = text
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .flatMap((line) => [...line.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code))
  .filter((code) => /^(?:await |const |for await |shots\.|renderLink)/.test(code))
  .map((code) => (code.startsWith('for await') ? `${code} void 0` : code))

/** Type checks programs by name as users with strict settings do; returns the errors. */
const check = async (programs: Readonly<Record<string, string>>): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'readme-'))
  try {
    const client = join(folder, 'node_modules/@shutterfleet')
    await mkdir(client, { recursive: true })
    await run('cp', ['-r', join(root, 'clients/typescript'), join(client, 'client')])
    for (const [name, code] of Object.entries(programs)) await writeFile(join(folder, `${name}.mts`), code)
    const lib = ['es2023', 'dom', 'dom.iterable', 'esnext.disposable']
    const compilerOptions = {
      ...{ target: 'es2023', lib, module: 'nodenext', strict: true, exactOptionalPropertyTypes: true, noEmit: true },
      ...{ noUncheckedIndexedAccess: true, typeRoots: [join(root, 'node_modules/@types')], types: ['node'] },
    }
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.mts'] }))
    // tap's hooks in NODE_OPTIONS cannot load the compiler.
    await run('env', ['-u', 'NODE_OPTIONS', join(root, 'node_modules/.bin/tsc'), '-p', folder])
    return ''
  } catch (error) {
    const { stdout, message } = error as Error & { stdout?: string }
    return stdout || message
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

t.test('TypeScript client: what its README shows compiles under strict settings', async (t) => {
  t.ok(blocks.length >= 3 && calls.length >= 20, 'blocks and calls are found')
  const [whole = '', ...parts] = blocks
  const inFunctions = [...parts, ...calls].map((code) => `void (async () => {\n${code}\n})\n`)
  t.equal(await check({ whole, parts: given + inFunctions.join('') }), '')
})

t.test('TypeScript client: a call that the client does not have is found', async (t) => {
  t.match(await check({ parts: `${given}await shots.captureAll({ url })\n` }), /captureAll/)
})
