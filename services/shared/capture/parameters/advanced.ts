import { Type } from 'typebox'
import { byDefault, enumSchema, flag, integer, line } from '#shared/schema/fields.ts'
import { defaultKeyTemplate, keyPlaceholders, keyTemplateMax } from './upload-key.ts'
import { outputNames, withDoc } from './kinds.ts'

/** Record, cache, webhook, upload and response. */
export const advanced = {
  extract_metadata: withDoc(byDefault(flag(), false), {
    description:
      'Adds the metadata of the page to the record: title, description, canonical URL, language, favicon and social tags.',
    example: true,
  }),
  outputs: withDoc(Type.Array(enumSchema(outputNames), { maxItems: outputNames.length, uniqueItems: true }), {
    description:
      'Content of the page to store besides the image, from the same load: `html` as rendered, readable `text`, `markdown`, `links`, the `accessibility` tree, `mhtml`; the requests as `har` and the messages of the `console`, without secrets.',
    example: ['text', 'links'],
    more: 'Each is downloaded from its `url` in the record, and has at most 5 MB; one that is larger is left out, `har` and `console` are cut, with a warning.',
  }),
  cache_ttl: withDoc(byDefault(integer(0, 86_400), 0), {
    description:
      'Maximum age in seconds at which an earlier result of the same request is reused; 0 always captures anew. A cache hit is free.',
    example: 3600,
  }),
  webhook_url: withDoc(line(1, 2048), {
    description: 'Public https URL that is notified on completion. The request then returns immediately.',
    example: 'https://hooks.example.com/screenshots',
    plain: 'only its origin: deliveries wait in queues by receiver',
  }),
  upload_to: withDoc(line(1, 64), {
    description:
      'Name of an upload destination of the account, to whose bucket the image is uploaded once it is captured.',
    example: 'archive',
    more: 'The response does not wait for it; `upload` in the record shows its state.',
    plain: 'uploads are queued by destination when captures end',
  }),
  upload_key: withDoc(line(1, keyTemplateMax), {
    description: `Key of the uploaded object, under the prefix of the destination, with the placeholders ${keyPlaceholders.map((each) => `\`${each}\``).join(', ')}.`,
    example: 'pages/{host}/{date}/{id}.{format}',
    more: `Needs \`upload_to\`. Defaults to \`${defaultKeyTemplate}\`. An object with that key is replaced.`,
  }),
  response_type: withDoc(enumSchema(['json', 'image']), {
    description: '`image` returns the image, `json` the record.',
    example: 'json',
    more: 'Defaults to `image` on capture and to `json` on create; a batch supports only `json`.',
  }),
}
