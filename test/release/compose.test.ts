// compose.yaml as a release has it, with images of a registry on this machine.
import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import t from 'tap'
import { call } from '#test/helpers/release/clone.ts'
import { startRegistry } from '#test/helpers/release/registry.ts'
import { writeSmallImage } from '#test/helpers/release/small-image.ts'

const folder = t.testdir({ images: {}, registry: {} })
const registry = await startRegistry(join(folder, 'registry'))
t.teardown(() => registry[Symbol.asyncDispose]())
const own = `${registry.host}/team/shutterfleet/worker-stealth@sha256:${'1'.repeat(64)}`
const pin = async (outside: string) => {
  const text = [
    'services:',
    '  shutterfleet:',
    '    image: shutterfleet/worker-stealth:local',
    '    build: { context: ., target: worker-stealth }',
    '    security_opt: [seccomp=k8s/seccomp/shutterfleet-worker.json]',
    '  postgres:',
    `    image: ${outside} # of the test`,
  ]
  await mkdir(join(folder, 'project'), { recursive: true })
  await writeFile(join(folder, 'project/compose.yaml'), text.join('\n'))
  const script = resolve(import.meta.dirname, '../../tools/release/pin-compose.ts')
  return call('node', [script, own], { cwd: join(folder, 'project') })
}

t.test('compose: all images are pinned, without a clone', async (t) => {
  const image = `${registry.host}/postgres:18`
  await writeSmallImage(join(folder, 'images'), { target: 'postgres', arch: 'amd64', commit: 'c', version: '1.0.0' })
  await call('crane', ['push', join(folder, 'images/postgres-amd64.tar'), image])
  const digest = (await call('crane', ['digest', image])).trim()
  const text = await pin(image)
  t.match(text, `image: ${own}\n`)
  t.match(text, `image: ${image}@${digest} # of the test`)
  t.match(text, 'seccomp=shutterfleet-worker.json')
  t.notMatch(text, /build|:local/)
  t.equal(await pin(`${image}@${digest}`), text, 'one that is pinned stays')
})

t.test('compose: an image that its registry does not have fails, and is named', async (t) => {
  const refusal = await pin(`${registry.host}/postgres:19`).catch(({ stderr }: { readonly stderr: string }) => stderr)
  t.match(refusal, /postgres:19|postgres\/manifests\/19/)
})
