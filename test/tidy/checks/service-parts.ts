import { type Finding, findingAt, type SourceFile } from '#test/tidy/source.ts'

const rule = 'service-parts'

/** What this check reads of the register of services. */
type Services = Readonly<
  Record<
    string,
    { readonly program: string; readonly cluster?: { readonly program: string }; readonly sendsSpans: boolean }
  >
>

const templateOf = (files: readonly SourceFile[], name: string, program: string) =>
  files.find(
    ({ path, text }) =>
      path.startsWith('charts/shutterfleet/templates/') &&
      text.includes(`"${name}"`) &&
      text.includes(`"services/${program}.js"`),
  )

/** Every service of the register has a program, events on the page of metrics, a row on the page of one machine, and a template of the chart that starts it, with `traced` if it sends spans. */
export const serviceParts = (files: readonly SourceFile[], services: Services): Finding[] => {
  const readText = (at: string) => files.find(({ path }) => path === at)?.text ?? ''
  return Object.entries(services).flatMap(([name, { program, cluster, sendsSpans }]) => {
    const [folder = ''] = program.split('/')
    const template = templateOf(files, name, cluster?.program ?? program)
    const parts: Readonly<Record<string, boolean>> = {
      [`services/${program}.ts`]: readText(`services/${program}.ts`) !== '',
      [`its events in tools/docs/metrics-page.ts`]: readText('tools/docs/metrics-page.ts').includes(
        `'#${folder}/telemetry/events.ts'`,
      ),
      'a row in docs/one-machine.md': readText('docs/one-machine.md').includes(`\n| ${name} |`),
      'a template of the chart': template !== undefined,
      [`"traced" ${sendsSpans} in its template`]: template?.text.includes('"traced" true') === sendsSpans,
    }
    return Object.entries(parts).flatMap(([part, isThere]) =>
      isThere
        ? []
        : [findingAt({ path: 'services/shared/config/services.ts', text: '' }, 0, rule, `${name} lacks ${part}`)],
    )
  })
}
