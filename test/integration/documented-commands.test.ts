import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { commandLine } from '#test/helpers/command-line.ts'

const root = resolve(import.meta.dirname, '../..')

/** Commands of `bin/shutterfleet` in `sh` blocks, without comments, pipes and redirections. */
const commandsIn = (text: string): string[] =>
  [...text.matchAll(/^```sh\n([^]*?)^```/gm)]
    .flatMap(([, block = '']) => block.replaceAll('\\\n', ' ').split('\n'))
    .flatMap((line) => /(?:^|[ ;])bin\/shutterfleet ([^#|;&>]+)/.exec(line)?.[1]?.trim() ?? [])

t.test('documented commands: every documented command exists, with its flags', async (t) => {
  const pages = (await readdir(join(root, 'docs'))).filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`)
  const texts = ['README.md', ...pages, ...['back-up', 'restore'].map((name) => `docs/examples/operations/${name}.sh`)]
  const found = await Promise.all(
    texts.map(async (path) => {
      const text = await readFile(join(root, path), 'utf8')
      return commandsIn(path.endsWith('.sh') ? `\`\`\`sh\n${text}\`\`\`` : text)
    }),
  )
  const commands = [...new Set(found.flat())]
  t.ok(commands.some((command) => command.startsWith('objects copy')))
  const refused = async (command: string) => {
    // An unknown flag is refused before help is printed.
    const words = command.split(/\s+/).map((word) => word.replaceAll(/^["']|["']$/g, ''))
    const { PATH } = process.env
    const ran = promisify(execFile)(commandLine, [...words, '--help'], { env: { PATH } })
    return ran.then(
      () => undefined,
      ({ stderr }: { stderr: string }) => `${command}: ${stderr}`,
    )
  }
  const refusals: string[] = []
  for (const command of commands) refusals.push(...[await refused(command)].flatMap((each) => each ?? []))
  t.strictSame(refusals, [])
  t.match(await refused('doctor --clusters'), /--clusters/)
})
