import { Ajv } from 'ajv'
import t from 'tap'
import { createSchemaCheck } from '#shared/capture/check-schema.ts'
import { captureParameters } from '#shared/capture/options.ts'
import { ownKeywords } from '#shared/schema/fields.ts'

t.test('check schema: the parameters are a valid JSON schema, which services do not check', (t) => {
  const ajv = new Ajv({ keywords: ownKeywords })
  t.equal(ajv.validateSchema(captureParameters), true)
  t.equal(ajv.validateSchema({ ...captureParameters, required: 'url' }), false)
  t.end()
})

t.test('check schema: a keyword that JSON schema does not know is refused', (t) => {
  t.throws(() => createSchemaCheck({ type: 'object', maximumLength: 1 }), /unknown keyword: "maximumLength"/)
  t.end()
})

t.test('check schema: a time out of bounds names its unit', async (t) => {
  const problems: string[][] = []
  createSchemaCheck(captureParameters)({ delay: 500, timeout: 30_000 }, (...each) => void problems.push(each))
  t.same(problems, [
    ['delay', 'must be a whole number from 0 to 10, in seconds (delay_ms: milliseconds), not 500'],
    ['timeout', 'must be a whole number from 5 to 60, in seconds, not 30000'],
  ])
})
