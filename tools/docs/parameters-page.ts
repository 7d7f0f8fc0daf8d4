import { captureSchema } from '#gateway/openapi/capture-parameters.ts'
import { documented } from '#gateway/openapi/schema/document-schema.ts'
import { captureParameters, type ParameterName, plainReasons } from '#shared/capture/options.ts'
import { parameterGroups } from '#shared/capture/parameters.ts'
import { type Field, fieldRow, listFields, table } from './schema-table.ts'
import { structuralSchema } from './structural-schema.ts'

const intro = `# Parameters of a capture

Use them in the query of \`GET /v1/screenshots/capture\`, in the body of a POST, and, with \`urls\`, in the body of a batch. A
capture has exactly one source. Unknown names and values out of bounds return 422, all at once, by name ([errors.md](errors.md)).
[examples/parameters](examples/parameters) has a complete request for each group; [http-contract.md](http-contract.md) describes
how parameters interact.

This page is generated from the code by \`make docs\`; \`make check\` fails if it differs.
`

const head = ['Parameter', 'Kind', 'Default', 'What it does']

/** The top-level parameter of a field. */
const parameterName = ({ path }: Field) => path.split(/[.[]/)[0] as ParameterName

const row = (field: Field) => {
  const { description = '' } = field.schema
  const more = field.path === parameterName(field) ? captureParameters.properties[field.path].more : undefined
  return fieldRow(field, more === undefined ? description : `${description} ${more}`)
}

const plainIntro = `PostgreSQL has every parameter sealed with \`SHUTTERFLEET_RECORD_KEYS\` but these; \`html\` and \`markdown\` are there only
encrypted for the workers, until the capture has ended. What a result says is plain: the final URL, title and metadata of the page, and
errors and warnings, which quote a selector that matched nothing, or an exception of \`js\`.
`

const plainSection = () => {
  const rows = plainReasons.map(([name, reason]) => `| \`${name}\` | ${reason} |`)
  return table('Stored in plain text', ['Parameter', 'Why'], rows)
}

/** The text of docs/parameters.md: every capture parameter by its group, and those that are stored in plain text. */
export const parametersPage = (): string => {
  const fields = listFields(structuralSchema(documented(captureSchema)))
  const sections = Object.entries(parameterGroups).map(([group, parameters]) => {
    const inGroup = fields.filter((field) => parameterName(field) in parameters)
    return table(group, head, inGroup.map(row))
  })
  return [intro, ...sections, plainSection(), plainIntro].join('\n')
}
