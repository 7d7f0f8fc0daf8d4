import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import { ciPath, objectsOf, renderText } from '#test/helpers/chart.ts'

const root = resolve(import.meta.dirname, '../..')
const profile = (name: string) => readFileSync(join(root, 'k8s', name), 'utf8')
const objects = objectsOf(await renderText(ciPath('profiles')))
const fieldOf = (kind: string, name: string, field: string) =>
  objects.find((each) => each.kind === kind && each.metadata.name === name)?.[field]
const data = fieldOf('ConfigMap', 'shots-shutterfleet-profiles', 'data') as Readonly<Record<string, string>>

type Container = {
  readonly args: readonly string[]
  readonly securityContext: object
  readonly volumeMounts?: object[]
}
type PodSpec = { readonly initContainers: readonly Container[]; readonly containers: readonly Container[] }
const { template } = fieldOf('DaemonSet', 'shots-shutterfleet-profiles', 'spec') as {
  readonly template: { readonly spec: PodSpec }
}
const [install, ...others] = [...template.spec.initContainers, ...template.spec.containers]

/** Runs the init container's program with its mounts; `node` are arguments that mount the root of a node with or without AppArmor. */
const run = (folder: string, node: readonly string[]) =>
  spawnSync(
    'bwrap',
    [
      ...[
        '--bind',
        '/',
        '/',
        '--dev',
        '/dev',
        '--tmpfs',
        '/mnt',
        '--ro-bind',
        join(folder, 'profiles'),
        '/mnt/profiles',
      ],
      ...[
        '--bind',
        join(folder, 'seccomp'),
        '/mnt/seccomp',
        ...node,
        '--cap-add',
        'CAP_SYS_CHROOT',
        '--',
        ...install!.args,
      ],
    ],
    { encoding: 'utf8' },
  )
const node = ['--ro-bind', '/', '/mnt/node', '--tmpfs', '/mnt/node/sys', '--tmpfs', '/mnt/node/sbin']

t.test('profiles: the chart carries the shipped ones', async (t) => {
  t.equal(data['shutterfleet-worker.json'], profile('seccomp/shutterfleet-worker.json'))
  t.equal(data['shutterfleet-worker'], profile('apparmor/shutterfleet-worker'))
  const numbers = profile('seccomp/shutterfleet-worker.json').replace('"errnoRet": 38', '"errnoRet": "38"')
  t.strictSame(fieldOf('SeccompProfile', 'shutterfleet-worker', 'spec'), JSON.parse(numbers))
})

t.test('profiles: writes the seccomp profile, and loads that of AppArmor with the parser of the node', async (t) => {
  const folder = t.testdir({ profiles: data, seccomp: {}, loaded: '' })
  const installed = () => readFileSync(join(folder, 'seccomp/shutterfleet-worker.json'), 'utf8')
  t.match(run(folder, []), { status: 0, stdout: 'seccomp profile installed\n' })
  t.equal(installed(), data['shutterfleet-worker.json'])

  t.match(run(folder, node), { status: 0, stderr: /AppArmor is not enabled on this node/ })

  const parser = join(folder, 'parser')
  writeFileSync(parser, `#!/usr/bin/sh\necho "$@"\n/usr/bin/cat\n`, { mode: 0o755 })
  const withAppArmor = [...node, '--dir', '/mnt/node/sys/kernel/security/apparmor']
  const loaded = run(folder, [...withAppArmor, '--ro-bind', parser, '/mnt/node/sbin/apparmor_parser'])
  t.match(loaded, { status: 0 })
  t.match(loaded.stdout, `--replace --skip-cache\n${data['shutterfleet-worker']}`)
  t.match(run(folder, withAppArmor), { status: 127 }, 'a node without a parser fails')
})

t.test('profiles: only the container that installs them has volumes, and no more than two capabilities', async (t) => {
  t.match(install!.securityContext, { capabilities: { drop: ['ALL'], add: ['SYS_CHROOT', 'MAC_ADMIN'] } })
  t.strictSame(
    others.map(({ volumeMounts = [] }) => volumeMounts),
    [[]],
  )
  t.match(others[0]!.securityContext, { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } })
  t.notMatch(await renderText(ciPath('minimal')), /kind: DaemonSet/)
  const seccomp = await renderText(ciPath('profiles'), 'helm4', ['--set=workers.appArmorProfile='])
  t.match(seccomp, /kind: DaemonSet/)
  t.notMatch(seccomp, /SYS_CHROOT|mountPath: \/mnt\/node|path: \/ /)
})
