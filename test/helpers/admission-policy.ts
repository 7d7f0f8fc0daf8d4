import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parse } from 'yaml'
import type { PodSettings } from '#controller/operator/manifests/worker-pod.ts'
import type { BrowserPoolSpec } from '#shared/kube/browser-pool.ts'
import type { TestCluster } from './cluster.ts'
import { controllerUser } from './cluster-programs.ts'

const file = resolve(import.meta.dirname, '../../k8s/admission-policy.yaml')

/** What the admission policy expects of workers with these settings, as the chart renders it. */
export const settingsOfPolicy = (settings: PodSettings): object => ({
  secret: settings.podSecret,
  egress: `${settings.podEgress.host}:${settings.podEgress.port}`,
  egressCa: settings.podEgressCa,
  extraCa: String(settings.podExtraCa),
  natsFiles: settings.podNatsFiles.join(','),
  seccomp: settings.podSeccomp,
  appArmor: settings.podAppArmor,
  runAsUser: String(settings.podSecurityContext.runAsUser ?? ''),
  runAsGroup: String(settings.podSecurityContext.runAsGroup ?? ''),
  fsGroup: String(settings.podSecurityContext.fsGroup ?? ''),
  isolation: settings.podIsolation,
  unsafeNoSandbox: String(settings.podUnsafeNoSandbox),
})

type Sidecar = NonNullable<BrowserPoolSpec['template']['sidecars']>[number]

/** A sidecar as the admission policy lists it, as the chart renders it. */
export const sidecarOfPolicy = ({
  name,
  image,
  command = [],
  args = [],
  env = [],
  volumeMounts = [],
}: Sidecar): object => ({
  name: [name],
  image: [image],
  command,
  args,
  env: env.map((each) => `${each.name}=${each.value}`),
  volumeMounts: volumeMounts.map((each) => `${each.name}:${each.mountPath}${each.readOnly ? ':ro' : ''}`),
})

/** Applies the shipped policy to the namespace `default`, with these values of its variables. */
export const applyAdmissionPolicy = async (
  { apply }: Pick<TestCluster, 'apply'>,
  own: Readonly<Record<string, unknown>>,
): Promise<void> => {
  const [policyText = '', binding = ''] = (await readFile(file, 'utf8')).split('\n---\n')
  const policy = parse(policyText) as { readonly spec: { readonly variables: readonly { readonly name: string }[] } }
  const values: Readonly<Record<string, unknown>> = { controller: controllerUser, ...own }
  const variables = policy.spec.variables.map((variable) =>
    variable.name in values ? { ...variable, expression: JSON.stringify(values[variable.name]) } : variable,
  )
  await apply({ ...policy, spec: { ...policy.spec, variables } })
  await apply(binding.replace('values: [shutterfleet]', 'values: [default]'))
}
