import { resolve } from 'node:path'
import { type Env, prefix } from '#shared/config/read-env.ts'
import type { Setting } from '#shared/config/settings/setting.ts'
import { createLocalEvents } from '#local/events.ts'
import { upFlags } from '#local/local-settings.ts'
import { runCells } from '#local/run-cells.ts'
import type { Started } from '#local/run-local.ts'
import {
  type Command,
  type CommandContext,
  flagText,
  flagTexts,
  type ParsedArgs,
  UsageError,
} from './command/command.ts'
import { startDetached } from './start-detached.ts'

type FlagName = keyof typeof upFlags

const flags = {
  data: { type: 'string', value: 'DIR', help: 'data folder (default .shutterfleet)' },
  port: { type: 'string', value: 'N', help: 'port of the HTTP interface (default 8080; 0: a free one)' },
  databases: {
    type: 'string',
    value: 'N',
    help: 'spread accounts over N databases, each with all services, behind one address (default 1)',
  },
  'workers-max': { type: 'string', value: 'N', help: 'maximum of workers, one browser each (default: one per core)' },
  'allow-target': {
    type: 'string',
    value: 'T',
    multiple: true,
    help: 'allow captures of a target that is not public: host, host:port, IP address, ip:port, CIDR',
  },
  plans: { type: 'string', value: 'FILE', help: 'JSON file with plans instead of the default ones' },
  'webhook-retries': {
    type: 'string',
    value: 'LIST',
    help: 'waits between attempts to deliver a webhook (default 30s,2m,10m)',
  },
  'extra-ca': { type: 'string', value: 'FILE', help: 'more PEM certificates for webhook delivery and pages to trust' },
  'public-url': { type: 'string', value: 'URL', help: 'URL at which clients reach the service' },
  postgres: { type: 'string', value: 'URL', help: 'PostgreSQL to use instead of starting one' },
  nats: { type: 'string', value: 'URL', help: 'NATS server to use instead of starting one' },
  s3: { type: 'string', value: 'URL', help: 'S3-compatible store: https://KEY:SECRET@host:port/bucket?region=R' },
} as const satisfies Record<FlagName, Command['flags'][string]>

/** Flags whose value is a path relative to the working folder. */
const paths: readonly FlagName[] = ['data', 'plans', 'extra-ca']

const flagValue = (args: ParsedArgs, name: FlagName): string | undefined => {
  if (name === 'allow-target') return flagTexts(args, name).join(',') || undefined
  const text = flagText(args, name)
  return text !== undefined && paths.includes(name) ? resolve(text) : text
}

/** The environment overridden by the flags. Throws `UsageError` that names an invalid flag. */
export const withFlags = (env: Env, args: ParsedArgs): Env => {
  const entries = Object.entries(upFlags).flatMap(([name, setting]: [string, Setting<unknown>]) => {
    const value = flagValue(args, name as FlagName)
    if (value === undefined) return []
    const parsed = setting.parse(value)
    if (!parsed.ok) throw new UsageError(`--${name} ${setting.secret ? '(hidden)' : value}: ${parsed.problem}`)
    return [[prefix + setting.name, value]]
  })
  return { ...env, ...Object.fromEntries(entries) }
}

const announce = (context: CommandContext, started: Started, stopWith: string) => {
  const data = started.data_dir === resolve('.shutterfleet') ? '' : ` --data ${started.data_dir}`
  const text = [
    'Shutterfleet is up.',
    `  base URL   ${started.base_url}`,
    `  API key    ${started.api_key}`,
    `  console    ${started.console_url}`,
    `  reference  ${started.reference_url}`,
    ...(started.first_capture ? [`  capture    ${started.first_capture.error ?? 'the first one has succeeded'}`] : []),
    ...(started.cells ?? []).map(
      ({ name, api_key, data_dir }) => `  cell ${name.padEnd(5)} ${api_key}, --data ${data_dir}`,
    ),
    `Try: bin/shutterfleet capture https://example.com -o example.png${data}`,
    `Stop with ${stopWith}${stopWith === 'Ctrl-C' ? '' : data}`,
  ].join('\n')
  context.print({ json: started, text })
}

/** `up`: starts everything on this machine and runs until it is stopped; with `--detach` returns once it is up. No state of accounts, keys or pools prevents it. */
export const up: Command = {
  usage: 'up [FLAGS]',
  summary:
    'starts the whole system on this machine; a new installation verifies itself with one capture, and reports how it ended',
  json: '{ base_url, api_key, account_id, data_dir, pid, console_url, reference_url, first_capture?: { error }, cells? }',
  flags: {
    ...flags,
    detach: {
      type: 'boolean',
      help: 'return once all services run, and the first capture of a new installation has ended',
    },
  },
  run: async (context, args) => {
    const env = withFlags(context.env, args)
    if (args.flags['detach']) {
      return announce(context, await startDetached({ ...context, env }), 'bin/shutterfleet down')
    }
    await runCells({
      env,
      stop: context.stop,
      root: context.root,
      events: createLocalEvents(context.note),
      started: (started) => announce(context, started, 'Ctrl-C'),
    })
  },
}
