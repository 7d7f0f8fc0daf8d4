// pin-compose.ts IMAGE: prints compose.yaml for who has no clone: the image of this repository is IMAGE, a reference with a digest, and
// all others are pinned to the digests that their tags have now in their registries, which crane asks. Exits 1 if one does not answer.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { isMap, isScalar, parseDocument } from 'yaml'

const digestMs = 60_000
const [own = ''] = process.argv.slice(2)
const document = parseDocument(readFileSync('compose.yaml', 'utf8'))

const pin = (image: string): string => {
  if (image.startsWith('shutterfleet/')) return own
  if (image.includes('@sha256:')) return image
  const digest = execFileSync('crane', ['digest', image], { encoding: 'utf8', timeout: digestMs }).trim()
  return `${image}@${digest}`
}

const services = document.get('services')
if (!isMap(services)) throw new Error('compose.yaml has no services')
for (const { value: service } of services.items) {
  if (!isMap(service)) continue
  service.delete('build')
  const image = service.get('image', true)
  if (isScalar<string>(image)) image.value = pin(image.value)
}
// The profile is beside the file.
process.stdout.write(document.toString({ lineWidth: 0 }).replaceAll('seccomp=k8s/seccomp/', 'seccomp='))
