import { availableParallelism } from 'node:os'
import { dataPaths } from '#local/data-folder.ts'
import { type Check, type Finding, runCheck } from '#local/doctor/check.ts'
import { blockListsCheck } from '#local/doctor/block-lists-check.ts'
import { clientsCheck } from '#local/doctor/clients-check.ts'
import { egressCheck } from '#local/doctor/egress-check.ts'
import { machineChecks } from '#local/doctor/machine-checks.ts'
import { metersCheck } from '#local/doctor/meters-check.ts'
import { movesCheck } from '#local/doctor/moves-check.ts'
import { pausesCheck } from '#local/doctor/pauses-check.ts'
import { dependencyChecks } from '#local/doctor/dependency-checks.ts'
import { findChromium, findNats, findPostgres, findStealthChromium, programSearch } from '#local/find-programs.ts'
import { type LocalFile, readLocalFile } from '#local/local-file.ts'
import { chooseDirectUrl, readLocalSettings } from '#local/local-settings.ts'
import { machineEnv } from '#local/service-env.ts'
import { readEnv } from '#shared/config/read-env.ts'
import { gatewaySettings } from '#shared/config/settings/gateway.ts'
import { databasePasswordSettings, queueIdentitySettings, s3KeySettings } from '#shared/config/settings/outside.ts'
import { passwordSource } from '#shared/db/password.ts'
import { workerSettings } from '#shared/config/settings/worker.ts'
import { AppError } from '#shared/errors/app-error.ts'
import {
  type Command,
  type CommandContext,
  dataFlag,
  flagText,
  type ParsedArgs,
  UsageError,
} from './command/command.ts'
import { findDataFolder } from './installation.ts'

const runningChecks = (local: LocalFile | undefined): Check[] => {
  const healthUrl = local?.services.find(({ name }) => name === 'gateway')?.health_url
  return healthUrl ? [clientsCheck(healthUrl)] : []
}

const gatherChecks = async ({ env, root }: CommandContext, args: ParsedArgs): Promise<Check[]> => {
  const settings = readLocalSettings(env, availableParallelism())
  const search = programSearch(settings, env, root)
  const [postgresBin, natsServer, chromium, stealthChromium, local] = await Promise.all([
    findPostgres(search),
    findNats(search),
    findChromium(search),
    findStealthChromium(search),
    readLocalFile(dataPaths(findDataFolder(env, args)).localFile),
  ])
  const { blockLists } = workerSettings
  const { browserAgeDaysMax } = gatewaySettings
  const config = readEnv({ blockLists, browserAgeDaysMax }, env)
  // Services that `up` starts get no other variables of the shell; those of a pod get all of the container.
  const password = passwordSource(readEnv(databasePasswordSettings, env), { env: local ? machineEnv(env) : env })
  return [
    ...machineChecks({
      chromium,
      stealthChromium,
      nodeVersion: process.versions.node,
      isRoot: process.getuid?.() === 0,
      nowMs: Date.now(),
      browserAgeDaysMax: config.browserAgeDaysMax,
    }),
    blockListsCheck({ folder: config.blockLists, now: Date.now }),
    ...dependencyChecks({
      postgresBin,
      natsServer,
      databaseUrl: local?.database_url ?? chooseDirectUrl(settings),
      password,
      databaseConnections: settings.databaseConnections,
      queueIdentity: readEnv(queueIdentitySettings, env),
      storeKeys: readEnv(s3KeySettings, env),
      natsUrl: local?.nats_url ?? settings.externalNatsUrl,
      objectStore: local?.object_store ?? settings.s3Url,
    }),
    ...(local
      ? [
          metersCheck({ databaseUrl: local.database_url, password, recount: args.flags['recount'] === true }),
          pausesCheck({ databaseUrl: local.database_url, password }),
          movesCheck({ databaseUrl: local.database_url, password }),
        ]
      : []),
    egressCheck(env['PATH'] ?? ''),
    ...runningChecks(local),
  ]
}

/** Runs the checks sequentially, so that none is slowed down by another. */
const examineMachine = async (context: CommandContext, args: ParsedArgs): Promise<Finding[]> => {
  const findings: Finding[] = []
  for (const check of await gatherChecks(context, args)) findings.push(await runCheck(check, findings))
  return findings
}

/** Loads the Kubernetes client only if a cluster is examined. */
const examineInstallation = async ({ env, root, stop }: CommandContext, args: ParsedArgs): Promise<Finding[]> => {
  const { examineCluster } = await import('./cluster-doctor/examine-cluster.ts')
  const selection = { namespace: flagText(args, 'namespace'), release: flagText(args, 'release') }
  return examineCluster({ env, root, stop, selection })
}

const line = ({ name, ok, checked, detail, advice }: Finding) =>
  `${ok ? 'ok  ' : checked === false ? '-   ' : 'FAIL'}  ${name.padEnd(16)}${detail}${advice === undefined ? '' : `: ${advice}`}`

/** `doctor`: checks what Shutterfleet needs, one line per check; a failed check includes advice. */
export const doctor: Command = {
  usage: 'doctor [--cluster | --cluster-only] [--namespace NS] [--release NAME] [--recount] [--data DIR]',
  summary: 'checks the requirements on this machine and the running installation, here or on Kubernetes',
  json: '{ ok, checks: [{ name, ok, checked?, detail, advice? }] }',
  flags: {
    data: dataFlag,
    recount: { type: 'boolean', help: 'correct meters that differ from the captures in the queue' },
    cluster: { type: 'boolean', help: 'also check an installation on Kubernetes, with your kubeconfig' },
    'cluster-only': { type: 'boolean', help: 'check only the installation on Kubernetes, not this machine' },
    namespace: { type: 'string', value: 'NS', help: 'namespace of the release (default that of the kubeconfig)' },
    release: { type: 'string', value: 'NAME', help: 'release of the chart, if the namespace has several' },
  },
  run: async (context, args) => {
    const only = args.flags['cluster-only'] === true
    const withCluster = only || args.flags['cluster'] === true
    for (const name of ['namespace', 'release']) {
      if (!withCluster && flagText(args, name) !== undefined) throw new UsageError(`--${name} needs --cluster`)
    }
    const findings = [
      ...(only ? [] : await examineMachine(context, args)),
      ...(withCluster ? await examineInstallation(context, args) : []),
    ]
    const failed = findings.filter(({ ok, checked }) => checked !== false && !ok)
    context.print({ json: { ok: failed.length === 0, checks: findings }, text: findings.map(line).join('\n') })
    if (failed.length > 0) {
      const names = [...new Set(failed.map(({ name }) => name))].join(', ')
      throw new AppError('SERVICE_UNAVAILABLE', { publicMessage: `checks failed: ${names}` })
    }
  },
}
