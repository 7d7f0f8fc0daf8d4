import { operandHelp, readParameters, readSource } from './capture.ts'
import { type Command, dataFlag, requiredText } from './command/command.ts'
import { openClient } from './open-client.ts'

/** `link`: signs a link that captures its source when it is viewed. The service signs, so that no secret is needed here. */
export const link: Command = {
  usage: 'link SOURCE --key-id ID [-p name=value]… [--data DIR]',
  summary: 'prints a signed link to an image that is captured when it is viewed, for <img>, e-mail and Open Graph tags',
  operandHelp,
  json: '{ url }',
  flags: {
    'key-id': { type: 'string', value: 'ID', help: 'API key whose link secret signs the link, by its id (key list)' },
    parameter: {
      type: 'string',
      short: 'p',
      value: 'name=value',
      multiple: true,
      help: 'parameter of the capture as in the HTTP interface, such as format=webp',
    },
    data: dataFlag,
  },
  run: async (context, args) => {
    const keyId = requiredText(args, 'key-id')
    const parameters = { ...readParameters(args), ...(await readSource(args.operands[0] ?? '')) }
    const client = await openClient(context, args)
    const { url } = await client.keys.createLink(keyId, { parameters })
    context.print({ json: { url }, text: url })
  },
}
