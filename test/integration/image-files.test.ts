import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { loadYaml } from '@kubernetes/client-node'
import t from 'tap'
import { readLocalSettings } from '#local/local-settings.ts'
import { maxMessageBytes } from '#shared/queue/topology.ts'

type Service = {
  readonly image: string
  readonly build?: { readonly target: string }
  readonly environment?: Readonly<Record<string, string>>
  readonly volumes?: readonly string[]
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
  readonly healthcheck?: unknown
  readonly security_opt?: readonly string[]
}
type Compose = {
  readonly services: Readonly<Record<string, Service>>
  readonly volumes: Readonly<Record<string, unknown>>
  readonly configs: { readonly nats: { readonly content: string } }
}

const dockerfile = await readFile('Dockerfile', 'utf8')
const compose = loadYaml<Compose>(await readFile('compose.yaml', 'utf8'))
const services = Object.entries(compose.services)

t.test('Dockerfile: each image has the version of package.json', async (t) => {
  const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { readonly version: string }
  const stages = dockerfile.split(/^FROM /m)
  const images = stages.filter((stage) => stage.includes('org.opencontainers.image.title='))
  t.equal(images.length, 3)
  for (const stage of images) t.match(stage, `org.opencontainers.image.version="${version}"`)
})

t.test('Dockerfile: uses no BuildKit-only syntax, and a numeric user', async (t) => {
  t.notMatch(dockerfile, /<<|^# syntax=|--mount=|--link|--checksum|--network=/m)
  t.strictSame(
    dockerfile.match(/^USER .*$/gm),
    Array.from({ length: 3 }, () => 'USER 10001:10001'),
  )
})

t.test('compose.yaml: the settings of the service are valid', async (t) => {
  const settings = readLocalSettings(compose.services['shutterfleet']?.environment ?? {}, 2)
  t.match(settings, {
    gatewayPort: 8080,
    externalDatabaseUrl: /@postgres:/,
    externalNatsUrl: /nats:/,
    s3Url: /@s3:/,
  })
  const { username, password } = new URL(compose.services['shutterfleet']?.environment?.['SHUTTERFLEET_S3_URL'] ?? '')
  t.match(compose.services['s3']?.environment, { ROOT_ACCESS_KEY: username, ROOT_SECRET_KEY: password })
  t.match(compose.configs.nats.content, `max_payload: ${maxMessageBytes}\n`)
})

t.test('compose.yaml: names tagged images, and existing targets, volumes, services and files', async (t) => {
  for (const [name, { image, build, volumes = [], depends_on: needed = {}, security_opt: options = [] }] of services) {
    t.match(image, /^[\w./-]+:[\w.-]+$/, name)
    if (build) t.ok(dockerfile.includes(` AS ${build.target}\n`), build.target)
    for (const volume of volumes) t.ok((volume.split(':')[0] ?? '') in compose.volumes, volume)
    for (const [each, { condition }] of Object.entries(needed)) {
      t.ok(each in compose.services, each)
      t.equal(condition === 'service_healthy', compose.services[each]?.healthcheck !== undefined, `${name}: ${each}`)
    }
    for (const option of options.filter((each) => each.startsWith('seccomp='))) {
      t.ok(existsSync(option.replace('seccomp=', '')), option)
    }
  }
})
