import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { serveFolder } from '#test/helpers/serve-folder.ts'
import vectors from '#test/fixtures/link-vectors.json' with { type: 'json' }

// Runs the programs of docs/links.md unchanged, and compares what they sign.

const execute = promisify(execFile)
const page = await readFile(resolve(import.meta.dirname, '../../docs/links.md'), 'utf8')
const folder = await mkdtemp(join(tmpdir(), 'link-languages-'))
t.teardown(() => rm(folder, { recursive: true }))

/** The command of each language, the name of its file, and a sign by which its signing program is found among the blocks. */
const languages = {
  sh: { command: ['sh'], file: 'link.sh', sign: 'openssl dgst' },
  ts: { command: [process.execPath], file: 'link.mts', sign: 'createHmac' },
  python: { command: ['python3'], file: 'link.py', sign: 'hmac.new' },
  go: { command: ['go', 'run'], file: 'link.go', sign: 'hmac.New' },
  php: { command: ['php'], file: 'link.php', sign: 'hash_hmac' },
} as const

const programOf = (language: keyof typeof languages): string => {
  const blocks = [...page.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, 'gm'))].map(
    ([, block = '']) => block,
  )
  return blocks.find((block) => block.includes(languages[language].sign)) ?? ''
}

const isInstalled = (program: string) =>
  execute('sh', ['-c', `command -v ${program}`]).then(
    () => true,
    () => false,
  )

const base = 'https://shots.example'
const { PATH, HOME } = process.env
const run = async (language: keyof typeof languages, parameters: Record<string, string>, more = {}) => {
  const { command, file } = languages[language]
  const [program, ...rest] = command
  const { key_id: keyId = '', ...own } = parameters
  const args = Object.entries(own).map(([name, value]) => `${name}=${value}`)
  const env = { PATH, HOME, BASE: base, KEY_ID: keyId, LINK_SECRET: vectors.secret, ...more }
  const { stdout } = await execute(program, [...rest, join(folder, file), ...args], { env, cwd: folder })
  return stdout.trimEnd()
}

for (const language of Object.keys(languages) as (keyof typeof languages)[]) {
  const { command, file } = languages[language]
  const isMissing = (await isInstalled(command[0])) ? false : `${command[0]} is not installed, so it was not executed`
  t.test(`link languages: the documented ${language} signs as the service does`, { skip: isMissing }, async (t) => {
    await writeFile(join(folder, file), programOf(language))
    for (const { parameters, query } of vectors.links) {
      t.equal(await run(language, parameters), `${base}/v1/render?${query}`)
    }
  })
}

t.test('link languages: the documented shell requests the link that it signed', async (t) => {
  await using site = await serveFolder(resolve(import.meta.dirname, '../fixtures/site'))
  const output = join(folder, 'page')
  const links = { BASE: `http://${site.host}/index.html?`, OUTPUT: output }
  await run('sh', vectors.links[0]?.parameters ?? {}, links)
  t.match(await readFile(output, 'utf8'), /<html/i)
})
